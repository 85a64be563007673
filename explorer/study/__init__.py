"""Studies, which compare backward rules on held-out data, each at its own best learning rate.

Every rule trains with several random seeds. Controls are rules that a useful rule must beat.
"""

from explorer.study.arguments import check_rates, check_rule_list, check_seeds, key_of, make_default_rates
from explorer.study.conduct import progress_bar, study
from explorer.study.file import StudyFile
from explorer.study.plan import SCALED, UNSCALED, Plan, format_duration
from explorer.study.result import Result
from explorer.study.script import write_script
from explorer.study.stepper import Stepper
from explorer.study.trial import Row, Stage, Trial
from explorer.study.workers import OtherVersionsError, StudyStoppedError, open_executor, pack_value
