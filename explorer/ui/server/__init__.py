"""The server: static files, data and answers to questions, runs, studies and classes over HTTP."""
