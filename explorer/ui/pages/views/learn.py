"""Learn: lessons on custom gradients, one screen each."""

from explorer.ui.pages.mount import mount
from explorer.ui.server import answers

mount("lesson", course=answers.get_course())
