# A Plotly of a quarter of the size; without this stage and its COPY the plotly package's own stands in.
FROM node:22-slim AS drawing
WORKDIR /drawing
COPY package.json ./
RUN npm install --omit=dev --no-package-lock

FROM python:3.11-slim-bookworm

# The file system may be read-only but for /tmp. Of joblib's processes, which want more, none is needed.
# Before it greets anybody, Streamlit asks a site of others for the server's own address.
ENV HOME=/tmp PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 PIP_NO_CACHE_DIR=1 JOBLIB_MULTIPROCESSING=0 \
    EXPLORER_PROFILE=hosted STREAMLIT_LOGGER_HIDE_WELCOME_MESSAGE=true
WORKDIR /app

# A layer of its own, which changes when torch does, from where the wheels bring no CUDA.
ARG TORCH=2.13.0
RUN pip install --no-deps --index-url https://download.pytorch.org/whl/cpu torch==${TORCH}
COPY requirements.txt ./
RUN pip install -r requirements.txt
COPY .streamlit .streamlit
COPY app.py ./
COPY explorer explorer
COPY --from=drawing /drawing/node_modules/plotly.js-basic-dist-min node_modules/plotly.js-basic-dist-min
RUN python -m compileall -q app.py explorer

USER 1000:1000
EXPOSE 8501
HEALTHCHECK --interval=30s --timeout=10s --start-period=60s \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8501/readyz', timeout=8)"]
CMD ["streamlit", "run", "app.py", "--server.headless=true", "--server.address=0.0.0.0", "--server.port=8501"]
