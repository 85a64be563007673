"""The pages of the Streamlit app."""
