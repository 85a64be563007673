"""The pages: Streamlit."""
