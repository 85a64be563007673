"""Learn: the stories of custom gradients, one screen each."""

from explorer.ui.pages.mount import mount
from explorer.ui.server import answers

mount("lesson", course=answers.course())
