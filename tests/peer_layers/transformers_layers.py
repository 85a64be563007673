"""Hugging Face's Trainer, ViT and BERT, at random starts and small: logged, observed and swapped."""

import pytest
import torch
from torch.nn import functional
from transformers import (
    BertConfig,
    BertForSequenceClassification,
    Trainer,
    TrainingArguments,
    ViTConfig,
    ViTForImageClassification,
)  # fmt: skip

import explorer

_SMALL = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 24}
TOKENS = torch.randint(0, 50, (8, 6), generator=torch.Generator().manual_seed(0))
IMAGES = torch.rand(4, 3, 8, 8, generator=torch.Generator().manual_seed(0))
LABELS = torch.arange(8) % 2


def bert():
    torch.manual_seed(0)
    config = BertConfig(vocab_size=50, hidden_dropout_prob=0, attention_probs_dropout_prob=0, **_SMALL)
    return BertForSequenceClassification(config)


def vit():
    torch.manual_seed(0)
    config = ViTConfig(image_size=8, patch_size=4, num_labels=2, hidden_act="relu", **_SMALL)
    return ViTForImageClassification(config)


def test_the_callback_logs_what_the_trainer_trains(tmp_path):
    rows = [{"input_ids": tokens, "labels": label} for tokens, label in zip(TOKENS, LABELS, strict=True)]
    arguments = TrainingArguments(
        tmp_path, max_steps=5, per_device_train_batch_size=4, report_to=[], save_strategy="no", use_cpu=True,
        disable_tqdm=True,
    )  # fmt: skip
    callback = explorer.trainer_callback(every=2)
    trainer = Trainer(bert(), arguments, train_dataset=rows, callbacks=[callback])
    trainer.train()
    logged = [row["step"] for row in trainer.state.log_history if "explorer/stuck_parameters" in row]
    assert logged == [0, 2, 4]
    assert any("gelu" in name or "intermediate" in name for name in callback.log.frame.name)


@pytest.mark.parametrize(("make", "op"), [(bert, "gelu"), (vit, "relu")])
def test_every_activation_is_a_site_and_swaps_bit_for_bit(make, op):
    model = make().train()
    call = (lambda m: m(TOKENS).logits) if make is bert else (lambda m: m(IMAGES).logits)
    labels = LABELS[: len(call(model))]
    with explorer.observe(model) as seen:
        functional.cross_entropy(call(model), labels).backward()
    assert (seen.frame.op == op).sum() == 2
    assert (seen.parameters.gradient == "arrives").mean() > 0.9
    fixed = explorer.swap(model, op, rule="straight_through")
    assert torch.equal(call(fixed), call(model))
    dead = explorer.swap(model, op, rule="zero")
    model.zero_grad()
    functional.cross_entropy(call(dead), labels).backward()
    first = next(each for each in model.parameters() if each.shape == (24, 16))  # before the activation
    assert not first.grad.any()
