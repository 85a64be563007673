"""Words and phrases for the checker of names and sentences."""

import re


def read_words(text: str) -> frozenset[str]:
    return frozenset(text.split())


VERBS = read_words(
    """abort accept access accumulate acquire activate adapt add adjust advance align allocate allow alter
    analyse analyze animate answer append apply approximate argue arrange ask assemble assert assign
    attach attempt authenticate average avoid await backpropagate balance begin bind bisect blame
    blend block blur borrow bound branch bring broadcast build bump bundle cache calculate call
    cancel cap capitalise capture carry cast catch categorise center centre change charge check choose cite
    clamp classify clean clear click clip clone close cluster collapse collect color colour combine
    command compare compile complete compose compress compute concatenate configure confirm connect
    construct consume contain continue convert copy correct count cover create credit crop cross cut
    decide declare decode decrease decrypt deduct deduplicate define delay delegate delete deliver
    derive describe deserialize destroy detach detect determine differentiate dim disable discard
    disconnect dispatch display distribute divide do download draft drag draw drop dump duplicate
    edit emit empty enable encode encrypt end enforce ensure enter enumerate escape estimate evaluate
    evict examine exchange exclude execute exit expand expect expire explain export express extend
    extract fail fall fetch fill filter find finish fit fix flatten flip flush focus fold follow
    forbid force format forward free freeze gather generate get give go grant group grow guard guess
    halt handle hash have hide highlight hold identify ignore implement import include increase
    indent index infer inherit init initialise initialize inject insert inspect install instantiate
    integrate interpolate interpret interrupt intersect invalidate invert invite invoke isolate
    iterate join judge jump keep kill label launch lay lead leave lend lengthen limit link list
    listen load locate lock log look lower make manage map mark mask match maximise measure mention
    merge migrate minimise minimize mirror mock model modify monitor mount move multiply mutate name
    narrow negate nest normalise normalize note notify number observe obtain offer omit open optimise
    optimize order outline override pack pad paint pair parse pass paste patch pause perform permit
    pick pin place plan play plot point poll pop populate post practise predict prefer prepare
    present preserve press prevent print process produce profile project promote propagate prove
    provide publish pull push put quantise query queue quote raise randomise rank rate reach react
    read rebuild recall receive recognise recolour recompute record recover rectify redirect redo
    redraw reduce refer refine reflect refresh refuse register reject relabel relate release reload
    remember remove rename render renew reopen renumber reorder repaint repeat replace replay reply report
    represent request require rescale reserve reset reshape resize resolve respond rest restart
    restore restrict restyle resume retain retract retrieve retry return reuse reveal reverse revert
    revise revoke rewind reword rewrite roll rotate round route run sample satisfy save say scale
    scan scatter schedule scroll seal search see seed seek select send separate serialise serialize
    serve set settle share sharpen shift shorten show shrink shuffle shut sign simplify simulate skim
    skip sleep slice slide smooth smoothen snap snapshot solve sort spawn specify speed split spread
    stack stagger standardise standardize start state stay steer step stop store straighten stream
    strengthen stretch strip style submit subscribe substitute subtract suggest sum summarise
    summarize supply support suppress survey swap sweep switch sync synchronize tabulate tag take
    talk tally teach tear tell terminate test thin throttle throw tick tidy tie tighten tile time
    tint toggle tokenize touch trace track trade train transfer transform translate transpose
    traverse treat trigger trim truncate try tune turn tweak type typeset unbind undergo underline
    undo unfold unhide unify unite unlock unmount unpack unpad unregister unset unsubscribe unwrap
    update upgrade upload use validate vary verify view visit visualise wait wake walk warm warn
    watch weigh widen wind wire withdraw work wrap write yield zip zoom"""
)
PREFIXES = read_words("is has can should must needs are was does to on from as with use will may")
IRREGULAR = read_words(
    """begun bent born bought bound broken brought built caught chosen come cut done drawn driven fallen
    fed felt fit flown found frozen given gone got grown held hidden hit hung kept known laid led left
    lent lost made meant met paid put read run said seen sent set shown shut sold sought spent split
    spoken spread stood stuck struck sunk sworn taken taught thought thrown told torn understood won
    worn written"""
) - read_words("cut fit hit put read run set shut split spread bound left")
WORDS = read_words(  # prepositions, pronouns, determiners, adverbs
    """about above across after again all alone along also among any anyone apart around as at away back
    because before behind below beneath beside besides between beyond both but by down due each either
    else elsewhere enough ever every everything far few first for from further half here in inside
    instead into it its just last late least less like many mine more most much near neither never next
    no none not nothing now of off often on once one only onto other others otherwise out outside over
    own per plain quite rather roomy same several since so some somebody something soon still such than
    that the their them then there these they this those through thus to together too toward twice under
    until up upon us usual very via what when where whether which while who whoever whole whom whose why
    with within without yet yours"""
)
VARIABLES = (WORDS | IRREGULAR) - read_words(
    """above after all around at back before below by down far first half in inside it last least less like
    many near next no now off on other outside over plain to under up"""
)
NOT_PARTICIPLES = read_words("bed feed feedback hundred kindred need red seed speed shed sacred")
PHRASES = [
    re.compile(text.strip(), re.IGNORECASE)
    for text in r"""
    \bwho(?:ever)? (?!the\b)\w+
    \b(?:for|of|to|by|with|from|is) (?:who|what)\b
    \bwhat (?:is|are|was|has|have|it|they|a|an|the|cannot|can|may|must|does|do|to|draws|comes|of|we|you)\b
    ^what\b
    \bof which\b
    \bso (?:many|much|often|few|long)\b(?! as| that)
    \bstands?\b
    \bstood\b
    \bhangs? on\b
    \bbeside\b
    (?<!soon )\bas it is\b
    \bas (?:it|they) (?:stands?|are|were|was)\b
    \b(?:take|taken|takes|carry|carried|came|come|comes|travel|travelled|goes) along\b
    \bof (?:itself|themselves)\b
    \bby (?:itself|themselves)\b
    \b(?:is|are|be|been) told\b
    \bsays? (?:so|it|nothing)\b
    \btells? (?:of|apart|no|those)\b
    \b(?:some|any)body(?:'s|’s)?\b
    \b(?:is|are) (?-i:none)\b(?<!there is none)(?<!there are none)
    \bbut (?:those|the one|for)\b
    \bthose (?:that|who|which)\b
    \bin the place of\b
    \bonce more\b
    \bthe other way round\b
    \b(?:as|where) (?:there )?(?:is|are) none\b
    \bwhere (?:there (?:is|are)|it (?:is|has|does|can)|they|that|one|none|no|nothing|something|he)\b
    \blet(?:s)? go\b
    \bin turn\b
    \bin words\b
    \bto be had\b
    \bthe same, but\b
    \bfrom \w+ on\b
    \bhas it\b
    \bhave it\b
    \bmeanwhile\b
    \bat all\b(?! times)
    \bheld? (?:to|against|up)\b
    \bcount(?:s|ed)? nowhere\b
    \bone (?:that|which|of them)\b
    \bno (?:longer|more) \w+ (?:than|is)\b
    \bwith commas\b
    \bon (?:its|their) way\b
    \bpassed? over\b
    \bfor (?:its|their) own\b
    \bof (?:our|your|its|their|his)(?: own|s)\b
    \bours\b
    \bin (?:it|them)\b[.;:,]
    \blooked? (?:at|for|on)\b
    \bhouse\b
    \bmade of\b
    \bas a \w+ would\b
    """.strip().splitlines()
]
