"""The words, formulas, code and checks beside a chart, in the app and on the site without a server."""
