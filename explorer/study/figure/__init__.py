"""Draw the result of a study: its judgement as plain data, and with a heat map as a Plotly figure."""
