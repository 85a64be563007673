"""Lightning trains a module, and a swapped one of its class: the callback logs to its loggers."""

from pathlib import Path

import lightning.pytorch as pl
import torch
from lightning.pytorch.loggers import CSVLogger
from torch import nn
from torch.nn import functional
from torch.utils.data import DataLoader, TensorDataset

import explorer
from tests.peer_layers.nets import X, Y


class Module(pl.LightningModule):
    """A net with a sign, which stops the gradient to its first layer."""

    def __init__(self):
        super().__init__()
        self.net = nn.ModuleDict({"a": nn.Linear(12, 16), "b": nn.Linear(16, 4)})

    def forward(self, x):
        return self.net["b"](torch.sign(self.net["a"](x)))

    def training_step(self, batch, index):
        x, y = batch
        return functional.cross_entropy(self(x), y)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


def fit(module, callback, folder):
    logger = CSVLogger(folder)
    trainer = pl.Trainer(
        max_epochs=3, logger=logger, callbacks=[callback], accelerator="cpu", enable_progress_bar=False,
        enable_model_summary=False, enable_checkpointing=False, log_every_n_steps=1,
    )  # fmt: skip
    torch.manual_seed(0)
    trainer.fit(module, DataLoader(TensorDataset(X, Y), 4))
    return logger


def test_the_callback_logs_a_module_that_lightning_trains(tmp_path):
    callback = explorer.lightning_callback(every=5)
    logger = fit(Module(), callback, tmp_path)
    assert "explorer/stuck_parameters" in (Path(logger.log_dir) / "metrics.csv").read_text()
    assert {*callback.log.frame.step} == {0, 5, 10}
    stuck = callback.log.frame.set_index("name").loc["explorer/stuck_parameters", "value"]
    assert {*stuck} == {2.0}


def test_a_swapped_module_is_trained_and_its_first_layer_learns(tmp_path):
    torch.manual_seed(0)
    module = Module()
    before = module.net["a"].weight.detach().clone()
    callback = explorer.lightning_callback(every=5)
    fixed = explorer.swap(module, torch.sign, rule="clipped")
    assert isinstance(fixed, pl.LightningModule)
    fit(fixed, callback, tmp_path)
    assert not torch.equal(before, module.net["a"].weight)
    stuck = callback.log.frame.set_index("name").loc["explorer/stuck_parameters", "value"]
    assert {*stuck} == {0.0}
