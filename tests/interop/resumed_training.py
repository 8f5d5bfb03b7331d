#!/usr/bin/python3
"""Trains with PyTorch, carries model and optimizer to burn's files and back, and trains on.

Usage: resumed_training.py CKPT. Every loss after the way through burn must equal, bit for bit, the one of a run
that was never interrupted. Ends with status 77 where PyTorch is missing.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

try:
    import torch
    from torch import nn
except ImportError:
    print("PyTorch is not installed")
    sys.exit(77)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(6, 8)
        self.norm = nn.LayerNorm(8)
        self.attention = nn.MultiheadAttention(8, 2, batch_first=True)
        self.lstm = nn.LSTM(8, 5, batch_first=True)
        self.bn = nn.BatchNorm1d(5)
        self.head = nn.Linear(5, 3)

    def forward(self, x):
        x = self.norm(torch.tanh(self.fc(x)))
        x = x + self.attention(x, x, x)[0]
        x = self.lstm(x)[0].mean(dim=1)
        return self.head(self.bn(x))


def decay_groups(model):
    """Weights decay, vectors do not: the groups are no ranges of model.parameters()."""
    parameters = list(model.parameters())
    return [{"params": [p for p in parameters if p.dim() > 1], "weight_decay": 0.01},
            {"params": [p for p in parameters if p.dim() == 1], "weight_decay": 0.0}]


OPTIMIZERS = {
    "SGD with momentum": lambda groups: torch.optim.SGD(groups, lr=0.05, momentum=0.9),
    "SGD": lambda groups: torch.optim.SGD(groups, lr=0.05),
    "Adam": lambda groups: torch.optim.Adam(groups, lr=0.01),
    "AdamW with AMSGrad": lambda groups: torch.optim.AdamW(groups, lr=0.01, amsgrad=True),
    "RMSprop": lambda groups: torch.optim.RMSprop(groups, lr=0.003, momentum=0.5),
    "RMSprop, centered": lambda groups: torch.optim.RMSprop(groups, lr=0.003, centered=True),
    "Adagrad": lambda groups: torch.optim.Adagrad(groups, lr=0.02, lr_decay=0.1),
}


def train(model, optimizer, scheduler, first, last):
    losses = []
    for step in range(first, last):
        generator = torch.Generator().manual_seed(step)
        x = torch.randn(4, 3, 6, generator=generator)
        y = torch.randn(4, 3, generator=generator)
        optimizer.zero_grad()
        loss = ((model(x) - y) ** 2).mean()
        loss.backward()
        optimizer.step()
        scheduler.step()
        losses.append(loss.item())
    return losses


def start(make):
    torch.manual_seed(1)
    model = Net()
    optimizer = make(decay_groups(model))
    return model, optimizer, torch.optim.lr_scheduler.StepLR(optimizer, 3, 0.5)


def run(ckpt, *arguments):
    result = subprocess.run([ckpt, *map(str, arguments)], capture_output=True, text=True)
    if result.returncode != 0:
        raise SystemExit(f"ckpt {' '.join(map(str, arguments))}: status {result.returncode}\n{result.stderr}")


def names_by_position(model, optimizer, path):
    """For a state without moments, whose shapes would tell the groups of the parameters."""
    names = {p: name for name, p in model.named_parameters()}
    path.write_text("".join(f"{names[p]}\n" for group in optimizer.param_groups for p in group["params"]))
    return ["--param-names", path]


def check(ckpt, name, make, folder):
    model, optimizer, scheduler = start(make)
    expected = train(model, optimizer, scheduler, 0, 10)

    model, optimizer, scheduler = start(make)
    first = train(model, optimizer, scheduler, 0, 5)
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "scheduler": scheduler.state_dict()},
               folder / "train.pt")
    has_moments = any(torch.is_tensor(value) for state in optimizer.state.values() for value in state.values())
    names = [] if has_moments else names_by_position(model, optimizer, folder / "names.txt")
    run(ckpt, "convert", folder / "train.pt", folder / "model.bpk", "--optimizer-out", folder / "optim.bpk",
        "--scheduler-out", folder / "scheduler.bpk", *names)
    run(ckpt, "convert", folder / "model.bpk", folder / "back.pt", "--optimizer", folder / "optim.bpk", "--scheduler",
        folder / "scheduler.bpk")

    model, optimizer, scheduler = start(make)
    back = torch.load(folder / "back.pt")
    model.load_state_dict(back["model"])
    optimizer.load_state_dict(back["optimizer"])
    scheduler.load_state_dict(back["scheduler"])
    losses = first + train(model, optimizer, scheduler, 5, 10)
    if losses != expected:
        print(f"{name}: the losses differ:\n  {expected}\n  {losses}")
        return False
    return True


def main():
    ckpt = sys.argv[1]
    good = 0
    for name, make in OPTIMIZERS.items():
        with tempfile.TemporaryDirectory() as folder:
            good += check(ckpt, name, make, Path(folder))
    print(f"{good} of {len(OPTIMIZERS)} optimizers go on as if nothing had been converted")
    return 0 if good == len(OPTIMIZERS) else 1


if __name__ == "__main__":
    sys.exit(main())
