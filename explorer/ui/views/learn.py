"""Learn: the stories of custom gradients, one screen each."""

from explorer.ui import answers
from explorer.ui.mount import mount

mount("lesson", course=answers.course())
