"""Faults of training and of studies."""

from tests.faults.fault import Fault

_SUMMED = "square = mean.square().sum(1)"

FAULTS = (
    Fault(
        name="A run that nobody watches goes on for 19 s instead of the promised 10",
        file="explorer/training/limits.py",
        old="pause_after_s: float = 9.0",
        new="pause_after_s: float = 19.0",
        tests="training/engine/test_engine.py training/scheduling/test_queue.py",
    ),
    Fault(
        name="Two outputs that are both the largest count as right",
        file="explorer/training/numerics/metrics.py",
        old="if int(best.count_nonzero()) != best.shape[0] * best.shape[1]:",
        new="if int(best.count_nonzero()) < best.shape[0] * best.shape[1]:",
        tests="training/numerics/test_metrics.py",
    ),
    Fault(
        name="Adam corrects its mean as if one more step had been taken",
        file="explorer/training/numerics/optimisers.py",
        old="value=_compute_alpha(rate, self.steps)",
        new="value=_compute_alpha(rate, self.steps + 1)",
        tests="training/numerics/test_optimisers.py",
    ),
    Fault(
        name="A laptop that slept lets the leases of all runs end",
        file="explorer/training/system/clock.py",
        old="return seconds + min(self._clock() - wound, self._most_s)",
        new="return seconds + max(self._clock() - wound, 0.0)",
        tests="training/system/test_clock.py",
    ),
    Fault(
        name="Differences smaller than one held-out example count as shown",
        file="explorer/training/ranking/comparison.py",
        old="max(stdev(pairs[first, label]), example) / math.sqrt(",
        new="max(stdev(pairs[first, label]), 0.0) / math.sqrt(",
        tests="training/ranking",
    ),
    Fault(
        name="How much higher and how much lower a rule may be are swapped",
        file="explorer/training/ranking/words.py",
        old='f"between {self.format_difference(-lowest)} higher and {self.format_number(highest)} lower"',
        new='f"between {self.format_difference(highest)} higher and {self.format_number(-lowest)} lower"',
        tests="training/ranking study/test_result.py",
    ),
    Fault(
        name="The gradient of a mean of four units is twice as large",
        file="explorer/training/nets/layers/convolution.py",
        old="quarter = (g.mT * 0.25)",
        new="quarter = (g.mT * 0.5)",
        tests="training/nets/test_convolution.py",
    ),
    Fault(
        name="A parameter that is to learn with one rule alone does not learn",
        file="explorer/training/nets/layers/learned.py",
        old='if name in learn or f"{rule.key}.{name}" in learn)',
        new="if name in learn)",
        tests="training/runs/test_learning.py training/settings/test_settings.py",
    ),
    Fault(
        name="The held-out data choose the rate that they judge",
        file="explorer/training/tasks/split.py",
        old="(-2 * judged, -judged), (-judged, None))",
        new="(-2 * judged, None), (-judged, None))",
        tests="training/tasks",
    ),
    Fault(
        name="A branch point takes effect one step late",
        file="explorer/training/settings/branches.py",
        old="past = [point for point in branch if point[0] <= step]",
        new="past = [point for point in branch if point[0] < step]",
        tests="training/settings/test_branches.py",
    ),
    Fault(
        name="A comma within an own formula parts the names of what learns",
        file="explorer/training/settings/setting.py",
        old='if character == "," and depth <= 0:',
        new='if character == ",":',
        tests="training/settings/test_settings.py ui/links/test_link.py",
    ),
    Fault(
        name="The spread over draws counts the noise of the mean as signal",
        file="explorer/training/instruments/spread.py",
        old=f"{_SUMMED} - variance / DRAWS",
        new=_SUMMED,
        tests="training/instruments/test_bias.py",
    ),
    Fault(
        name="An image that several rules misread counts as misread by each alone",
        file="explorer/training/instruments/mistakes.py",
        old="wrong & (wrong.sum(0) == 1) &",
        new="wrong & (wrong.sum(0) >= 1) &",
        tests="training/instruments/test_mistakes.py",
    ),
    Fault(
        name="The width of the data is told in data instead of windows",
        file="explorer/training/instruments/inputs.py",
        old="{ratio:.2g}",
        new="{1 / ratio:.2g}",
        tests="training/instruments/test_inputs.py",
    ),
    Fault(
        name="In slow motion what arrives at a spiking unit is one too small",
        file="explorer/training/instruments/slow_motion/stages.py",
        old="step.op.x + 1 - step.residual",
        new="step.op.x - step.residual",
        tests="training/instruments/test_slow_motion.py",
    ),
    Fault(
        name="Instruments show the nets of an earlier step",
        file="explorer/training/runs/recorder.py",
        old=" is not settings or self._nets_key != key:",
        new=" is not settings:",
        tests=(
            "training/runs/test_run.py training/runs/test_repeating.py "
            "training/runs/test_judging.py training/instruments/test_requested.py"
        ),
    ),
    Fault(
        name="The memory of checkpoints that were dropped stays counted",
        file="explorer/training/runs/checkpoints.py",
        old="self._states = states\n        self.bytes = sum(map(count_bytes, states.values()))",
        new="self._states = states",
        tests="training/runs/test_checkpoints.py",
    ),
    Fault(
        name="A curve has no point before the second step",
        file="explorer/training/runs/series.py",
        old="[count - 1] * (count > 0)",
        new="[count - 1] * (count > 1)",
        tests=(
            "training/runs/test_run.py training/runs/test_repeating.py "
            "training/runs/test_judging.py training/runs/test_lines.py"
        ),
    ),
    Fault(
        name="A run that branches loses the branch point at the very step",
        file="explorer/training/runs/stepper.py",
        old="merge_branches(self.settings.branch, (), checkpoint + 1)",
        new="merge_branches(self.settings.branch, (), checkpoint)",
        tests=(
            "training/runs/test_run.py training/runs/test_repeating.py "
            "training/runs/test_judging.py training/runs/test_checkpoints.py"
        ),
    ),
    Fault(
        name="A summary calls the higher of two losses the lower",
        file="explorer/training/runs/summary.py",
        old="losses[rule]) for pick in (min, max))",
        new="losses[rule]) for pick in (max, min))",
        tests="training/runs/test_summary.py",
    ),
    Fault(
        name="A visitor may have one run more than the quota",
        file="explorer/training/scheduling/quotas.py",
        old="if counts[share] >= limit)",
        new="if counts[share] > limit)",
        tests="training/scheduling/test_quotas.py training/scheduling/test_queue.py",
    ),
    Fault(
        name="After a reset changes that were made on the way are made again",
        file="explorer/training/scheduling/queue.py",
        old="job.pending, job.is_isolated = {}, False",
        new="job.is_isolated = False",
        tests="training/scheduling/test_runs.py training/engine/test_engine.py",
    ),
    Fault(
        name="Studies take a larger share of a busy engine than they may",
        file="explorer/training/scheduling/studies.py",
        old="(now - start) * (1 / self._limits.study_share - 1)",
        new="(now - start) * self._limits.study_share",
        tests="training/scheduling/test_studies.py",
    ),
    Fault(
        name="An engine that was closed starts another process",
        file="explorer/training/engine/host.py",
        old="            self._closed = True\n",
        new="            self._closed = False\n",
        tests="training/engine/test_host.py",
    ),
    Fault(
        name="A run that diverged makes the validation of its rate unknown instead of 0",
        file="explorer/study/outcomes.py",
        old="return 0.0 if row.diverged else row.validation",
        new="return row.validation",
        tests="study/test_result.py study/test_plan.py",
    ),
    Fault(
        name="The agreement among changed weights is that among all weights",
        file="explorer/study/agreement.py",
        old="float(equal[changed].double().mean())",
        new="float(equal.double().mean())",
        tests="study/test_agreement.py",
    ),
    Fault(
        name="Runs of another version of torch are mixed into the file of a study",
        file="explorer/study/file.py",
        old="if versions != self._version:",
        new="if not versions:",
        tests="study/test_file.py",
    ),
    Fault(
        name="Two rules with equal means in one study count as changing their order",
        file="explorer/study/order.py",
        old="first[pair][0] * second[pair][0] < 0)",
        new="first[pair][0] * second[pair][0] <= 0)",
        tests="study/test_equal.py",
    ),
)
