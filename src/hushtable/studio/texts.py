"""All words of the studio's pages, in one place; ``labels`` has the names of things."""

from __future__ import annotations

from hushtable.registry import forms
from hushtable.schema.columns import Kind, Missing, Role

__all__ = ["CELLS", "KINDS", "MISSING", "ROLES", "STATES", "STEPS", "T"]


class T:
    """Sentences, by what they are for."""

    TITLE = "hushtable studio"
    CLAIM = "Publish a table about people without publishing the people."
    LOCAL = "Everything stays on this machine: nothing is sent anywhere."
    SKIP = "Skip to the content"
    MENU = "Show or hide the steps"
    DARK = "Light or dark"
    STEPS = "Steps"
    API = "REST API"
    PROJECTS = "Projects"
    NEXT = "Next: {}"
    BACK = "Back: {}"
    STALE = "This project was changed in another tab. Nothing can be saved here until you see the changes."
    STALE_SHOW = "Show the changes"
    GONE = "This page does not exist. The project may have been deleted."
    NO_DATA = "There is no table yet. Begin with the Data step."
    NO_RUNS = "There is no release yet. Start one on the Run step."
    NEEDS = "Go to {}"
    UNDO = "Undo"
    UNDO_OF = "Undo: {}"
    DONE = "(done)"
    LEAVE_QUESTION = "Something that you typed here is not saved. Leave the page and lose it?"
    LEAVE = "Leave without saving"
    STAY = "Stay on this page"

    TRY = "Try it with the embedded patients"
    TRY_TEXT = (
        "5,000 generated patients, none of whom exists, with roles, hierarchies and models already chosen. Follow the "
        "steps from Data to Export, or go straight to Run."
    )
    OWN = "Start with a table of your own"
    OWN_TEXT = "Name the project, then upload a table."
    NAME = "Name of the project"
    CREATE = "Create"
    YOURS = "Your projects"
    NONE_YET = "None yet."
    DELETE = "Delete"
    DELETE_SURE = "Delete “{}” with its data and all its releases? This cannot be undone."
    CANCEL = "Cancel"
    EXAMPLE_NAME = "Embedded patients"

    UPLOAD = "Upload a table"
    UPLOAD_TEXT = "CSV, TSV, Parquet, Arrow or Excel, up to {}. It is copied into the project, and deleted with it."
    UPLOAD_LABEL = "Choose a file, or drop it here:"
    UPLOADING = "Uploading ..."
    UNPACKED = "Unpacked size limit (MiB)"
    UNPACKED_HINT = "A file that unpacks to more is refused. Empty: 64 to 1024 MiB, by the size of the file"
    REJECTED = "This file is too large or not of a kind that the studio takes."
    DATABASE = "Query a database"
    DATABASE_TEXT = "The address is used once and not kept. Only a single SELECT is run."
    ADDRESS = "Address"
    ADDRESS_HINT = "postgresql://user:password@host/database"
    QUERY = "SELECT"
    FETCH = "Run the query"
    PREVIEW = "Preview"
    COLUMNS = "Columns"
    FOUND_IN_DATA = "What was found"
    SEE_COLUMNS = "Kind, role and uniqueness of each column are on the next step, Columns."
    ROWS = "{rows:,} rows, {columns} columns"
    DUPLICATES = "{:,} rows repeat an earlier row."
    SHEET = "Sheet of the workbook"
    SHEET_HINT = "It cannot be changed once there is a release."
    SHEET_SURE = "Read the sheet “{}” instead? Roles, hierarchies and models are suggested anew."
    SHEET_TAKE = "Read this sheet"
    OTHER_DATA = "Use other data"
    TOKENS_FOUND = "Taken for missing values: {}. Change the list under Protect, Settings."
    TOKENS_MAYBE = "May stand for a missing value: {}. If so, add it under Protect, Settings."
    REPEATED = (
        "{name} has {distinct:,} values in {rows:,} rows: a person seems to have several rows. People are counted "
        "then, not rows; change it under Protect, Settings."
    )

    ROLES_TEXT = (
        "Each role is a suggestion; click a column's name for the reason. Ask of every column: could somebody know "
        "this about a person, and could they be harmed if it were learnt?"
    )
    ROLE = "Role"
    KIND = "Kind of values"
    ADDS = "Together with other columns it makes up to {} more of the records unique."
    FACTS = "{:,} distinct values, {:,} missing."
    SEARCH = "Search columns"
    SHOW = "Which columns to show"
    SHOW_ALL = "All roles"
    COUNT = "{0} of {0} columns, {1} selected"
    SELECT = "Select"
    SELECT_ALL = "Select all columns shown"
    BULK_ROLE = "Set role of selected"
    BULK_KIND = "Set kind of selected"
    AS_FOUND = "as found"
    FOUND = "found"
    NOT_READABLE = "unreadable"
    EDIT_HIERARCHY = "edit"
    HIERARCHY_OF = "Hierarchy"
    COMPLETE = "The policy is complete."
    GRID_HEADS = {
        "name": "Column",
        "spark": "Values",
        "kind": "Kind",
        "role": "Role",
        "hierarchy": "Hierarchy",
        "unique": "Unique alone",
        "loss": "Lost",
    }
    UNIQUE = "How unique people are"
    UNIQUE_TEXT = (
        "Share of records that no other record looks like, on a few columns together. A neighbour who knows these "
        "about somebody finds their row."
    )
    SAMPLED = "Counted on {:,} evenly spaced rows."

    HIERARCHIES_TEXT = (
        "To hide people among others, values are replaced by coarser ones. A hierarchy says which, step by step: "
        "34 → 30 to 39 → 20 to 59 → anything."
    )
    COLUMN = "Column"
    RECIPE = "How to build it"
    SPREAD = "How the values spread"
    FREQUENT = "Most frequent values"
    CUTS = "Orange lines: where the intervals of level {} begin."
    CHECK_OK = "This hierarchy covers every value: {} labels from level to level."
    CHECK_BAD = "This hierarchy cannot be used yet:"
    LEVELS = "Some values and their labels, level by level"
    LEVEL = "Level {}"
    VALUE = "Value"
    SAVE = "Save this hierarchy"
    SAVED = "Saved."
    DISCARD = "Discard changes"
    NOT_SAVED = "This hierarchy is not saved: it cannot be used."
    ALL_HIERARCHIES = "All hierarchies"
    OVERVIEW_HEADS = ("Column", "How it is built", "Labels, level by level", "Example")
    OVERVIEW_OK = "{} hierarchies, each covers every value. Click one to edit it."
    OVERVIEW_BAD = "{} of these hierarchies cannot be used yet. Click one to mend it."
    NOT_USABLE = "cannot be used"
    UNSAVED = "Not saved yet."
    WEIGHT_TITLE = "Weight"
    WEIGHT = "Weight: how much its detail matters"
    WEIGHT_HINT = "1 as all others; with 2, algorithms spare this column twice as much"
    NEXT_COLUMN = "Next column: {}"
    TREE = "Tree"
    TREE_TEXT = (
        "One label per line; what stands further in belongs to the label above it. Choose values and put them into a "
        "group, or edit the text."
    )
    GROUP_VALUES = "Values to put together"
    GROUP_NAME = "Name of their group"
    GROUP = "Put together"
    IMPORT = "Import or export a hierarchy file"
    IMPORT_TEXT = "A CSV file with one row per value (the value first, then its label on each level), or a YAML tree."
    EXPORT_CSV = "Export the saved hierarchy as CSV"
    NO_QUASI = "No column is a quasi-identifier yet, so there is nothing to make coarser."

    PROTECT_TEXT = (
        "All models that you choose must hold. Some hide who somebody is, others hide what they have: most tables need "
        "one of each. A class is a set of people who look the same in the release."
    )
    MODELS = "Privacy models"
    ADD_MODEL = "Add a model"
    REMOVE = "Remove"
    ALGORITHM = "Algorithm"
    ALGORITHM_TEXT = "What forms the groups of look-alikes. Any algorithm works with any model, or says why not."
    MORE = "What it means"
    SETTINGS = "Settings"
    SUPPRESSION = "Records that may be left out, in percent"
    SUPPRESSION_HINT = "Leaving out a few unusual people spares detail for all others."
    MISSING = "What an empty cell means"
    CELLS = "How coarser values are written"
    SEED = "Seed"
    SEED_HINT = "The same table, policy and seed give the same bytes."
    ENTITY = "Column that identifies each row's person"
    ENTITY_HINT = "Where a person has several rows, people are counted instead of rows."
    ENTITY_NONE = "every row is another person"
    FORMAT = "File format of the release"
    FOR_SPREADSHEETS = "CSV, to be opened in a spreadsheet"
    TOKENS = "Texts that stand for a missing value, separated by commas"
    CATEGORIES = "Which values are the most sensitive"
    CATEGORIES_TEXT = (
        "Some models weigh values by how sensitive they are. Name categories, the most sensitive first, with their "
        "values further in. Leave it empty if all values are alike."
    )
    ORDERS = "Labels that have an order"
    ORDERS_TEXT = "One label per line, from low to high (never, rarely, often). Leave it empty if there is no order."
    TREATMENTS = "Treatments of columns"
    TREATMENTS_TEXT = (
        "Swap, round or draw values before records are grouped. Models are then verified on the treated values. "
        "Leave it empty unless you need it: most treatments guarantee nothing."
    )
    OUTSIDE = "What is known from elsewhere"
    OUTSIDE_TEXT = (
        "Some models count people of a larger population, or what somebody already believes. Upload the tables here; "
        "they have the quasi-identifiers' columns under the same names."
    )
    OUTSIDE_NONE = "none"
    POPULATION = "Table of the population"
    POPULATION_HINT = "for models that ask how many people of the population look alike"
    BACKGROUND = "Table of what somebody believes"
    BACKGROUND_ON = "The sensitive column that it speaks of"
    BACKGROUND_SHARE = "Its column of probabilities"
    POLICY = "The policy as text"
    POLICY_TEXT = (
        "Everything that you chose, as the file that the command line and Python use. Edit it here, or paste one. "
        "Files that it names are those of the project: files/NAME."
    )
    POLICY_SAVE = "Use this policy"
    FEASIBLE = "Can this work?"
    FEASIBLE_OK = "No problems found."
    FEASIBLE_BAD = "To be mended before a run:"
    CHECKING = "Checking ..."
    CAN_HOLD = {True: "yes, as far as can be checked", False: "no", None: "not known yet"}
    COMBINATIONS = "The hierarchies' levels can be combined in {:,} ways."

    RUN_TEXT = (
        "The policy is run as it is now. The result is verified from its own cells; a release that breaks a promise is "
        "never kept."
    )
    START = "Start a run"
    LEFT = "about {} left"
    LONGER = "taking longer than estimated"
    STOP = "Cancel the run"
    STOPPING = "Cancelling ..."
    RUNS = "Releases"
    DELETE_RUN = "Delete release {} with everything found out about it? This cannot be undone."
    DELETE_RELEASE = "Delete release {}"
    RUN_NAME = "Release {}"
    VERIFIED = "verified"
    PRICES = "What costs most"
    PRICE_COLUMNS = ("change", "detail lost", "counts off by", "write in the policy")
    RUN_DONE = "Release {} was made, and every promise of the policy holds in it."
    NOT_RUN = "Runs that gave no release"
    BLOCKED = "The policy is not complete yet:"

    TRIALS = "Not sure? Compare settings"
    TRIALS_TEXT = (
        "Every combination of the lists below is run on your table and measured. Only the figures are kept; a setting "
        "that you choose becomes the policy, and Start a run makes its release."
    )
    TRIALS_ALGORITHMS = "Algorithms to try"
    TRIALS_VALUES = "{param} of {model}: values to try"
    TRIALS_VALUES_HINT = "separated by commas"
    TRIALS_LEFT_OUT = "Records that may be left out, in percent: values to try"
    TRIALS_START = "Compare"
    TRIALS_STOP = "Cancel the comparison"
    TRIALS_KEPT = "Settings that were finished before are not run again."
    TRIALS_FOUND = "What they gave"
    TRIALS_FOUND_TEXT = (
        "Risk: the highest chance that a person is found. Loss: the share of detail that is gone. ★ marks settings "
        "that no other one beats in both."
    )
    TRIALS_HEADS = ("setting", "algorithm", "models", "may be left out", "risk", "loss", "left out", "")
    TRIALS_COMMON = "The same in every setting: {}."
    TRIALS_SAME = "as above"
    TRIALS_AXES = ("risk that a person is found", "loss of detail")
    TRIALS_SUGGEST = "Suggest one"
    TRIALS_RISK = "Risk at most, in percent"
    TRIALS_LOST = "Left out at most, in percent"
    TRIALS_BEST = "Setting {}: {}, {}. It loses least among {} of {} settings that keep these limits."
    TRIALS_USE = "Use setting {}"
    TRIALS_USED = "Setting {} is the policy now. Start a run to make the release."
    TRIALS_POINT = "Setting"

    WHICH = "Release"
    SPACE = "Solutions of the search"
    SPACE_TEXT = (
        "Every mark is a combination of levels. Further down, values keep more detail; further left, fewer people are "
        "left out. Filled circles keep all promises, empty squares do not; the ringed one is this release. Choose a "
        "mark to see it and to make it a release."
    )
    SPACE_AXES = ("people left out", "sum of levels")
    ALLOWED = "allowed: {:,}"
    ONLY_FITS = "Only those that keep all promises"
    MOST_SHOWN = "Showing {shown:,} of {total:,} solutions, the best first."
    LEVEL_OF = "{}: at most"
    CHOSEN = "Solution"
    APPLY = "Make this a release"
    APPLIED = "The run has started; see the Run step."
    DOES_NOT_FIT = "This one does not keep all promises."
    NO_SPACE = (
        "{} makes one release and looks at no others. Algorithms that generalise whole columns, such as optimal, show "
        "the solutions that they looked at here; choose one under Protect."
    )
    PARTITION = "Classes of look-alikes"
    PARTITION_TEXT = (
        "Everybody in a class looks the same to others. Larger classes hide better; smaller ones tell more."
    )
    SIZES = "Number of classes by size"
    SIZES_AXES = ("people in a class", "classes")
    MAP = "Map of the classes"
    MAP_TEXT = (
        "Each rectangle is a class: the ranges that it covers in two columns. Small rectangles keep detail. At most 90 "
        "classes are drawn, evenly chosen."
    )
    ACROSS = "Across"
    UP = "Up"
    FRONTIER = "Releases beside each other"
    FRONTIER_TEXT = "To the left: smaller risk that a person is found. Further down: less was lost."
    MEASURE = "Measure of what was lost"
    RISK_AXIS = "risk: 1 / smallest class"

    COMPARE_TITLE = "The release, row by row"
    COMPARE_TEXT = "The deeper the blue of a cell, the coarser it was made."
    SHADES = ("as it was", "a little coarser", "coarser", "half of what was known", "hardly anything", "says nothing")
    ORIGINAL = "Show my original rows beside the release"
    ORIGINAL_TEXT = "They are read from the project on this machine; the release never holds them."
    AS_WAS = "original"
    AS_IS = "released"
    DISTRIBUTIONS = "Each column before and after"
    DISTRIBUTIONS_TEXT = "As in the evidence report, on one scale; the columns that lost most come first."
    ALL_COLUMNS = "all, a few at a time"
    COLUMNS_OF = "Columns {first:,} to {last:,} of {total:,}"
    BEFORE = "before"
    AFTER = "after"
    DISTINCT = "{:,} distinct values"
    CLASSES = "Classes"
    SHOW_CLASS = "Show its rows"
    ALL_ROWS = "Show all rows"
    CLASS_ROWS = "The {:,} rows of class {:,}"

    RISK = "Risk"
    RISK_TEXT = "How exposed people are: in the raw table, and in the release."
    ASSESS = "Assess the risk"
    ESTIMATES = "Estimates of how many people are unique in the population"
    MEANINGS = "What these risks are"
    FRACTION = "Share of the population that the table holds, in percent"
    FRACTION_HINT = "Leave it empty if it holds everybody."
    ATTACKS = "Attacks"
    ATTACKS_TEXT = (
        "Each attack of the literature is played against the release. The baseline is how often the same guess is "
        "right without the release: only what goes beyond it is the release's fault."
    )
    ATTACKS_CHART = "Success of attacks compared with guessing"
    ATTACKS_CAPTION = (
        "How often each adversary was right (dot, with its 95% interval), and how often the same guess is right "
        "without the release (tick). Numbers: right / guessing."
    )
    ATTACK_ALL = "Play the attacks"
    ATTACK_SOME = "Attacks (all, where none is chosen)"
    BEYOND = "beyond the baseline"
    WITHIN = "no better than guessing"
    LACKING = "Not played"

    EXPORT_TEXT = "What you publish is the release; keep the rest to show how it was made."
    VERIFY = "Verify the file again"
    VERIFY_TEXT = "Repeats the check from the published file, the policy and the private companion, which stays here."
    VERIFY_OK = "Every promise holds, recomputed from the published cells."
    VERIFY_BAD = "The published file does not keep its promises:"
    VERIFY_UNKNOWN = "This cannot be told from the file alone:"
    FILES = "Files"
    DOWNLOAD = "Download {}"
    BUNDLE = "Download everything (ZIP)"
    EVIDENCE = "The evidence report"
    EVIDENCE_TEXT = (
        "One offline page for the protection officer: what was done, what the risk was and is, which attacks were "
        "played, and what the models cannot promise. No value of a person is in it."
    )
    TEMPLATE = "Whose questions come first"
    REPORT = "Write the evidence report"
    REPORT_AGAIN = "Write it again"
    REPORT_FETCH = "Download the report"
    CODE = "The same in Python"

    ROWS_OF = "Rows {first:,} to {last:,} of {total:,}"
    EARLIER = "Earlier rows"
    LATER = "Later rows"
    FAILED = "It did not work"
    EMPTY = "(empty)"


# What steps, roles, kinds and states are called on the studio's pages.


STEPS = {
    "data": ("Data", "Choose the table that you want to publish."),
    "columns": ("Columns", "Say what each column tells about a person."),
    "hierarchies": ("Hierarchies", "Say how values may be made coarser."),
    "protect": ("Protect", "Say what must not be possible with the release."),
    "run": ("Run", "Make a release that keeps those promises."),
    "explore": ("Explore", "See other solutions, and choose one."),
    "compare": ("Compare", "See what became of the data."),
    "attack": ("Attack & risk", "Try to break the release before others do."),
    "export": ("Export", "Take the release, its policy and its evidence with you."),
}
"""Step -> title and what it is for, in the order of the way."""

ROLES = {
    Role.IDENTIFIER: ("Identifier", "Names a person (name, number, e-mail). It is never published."),
    Role.QUASI: (
        "Quasi-identifier",
        "Others may know it about a person (age, postcode, job). It is made coarser until nobody stands out.",
    ),
    Role.SENSITIVE: (
        "Sensitive",
        "Must not be learnt about a person (diagnosis, income). It is published, and protected by the models.",
    ),
    Role.INSENSITIVE: ("Insensitive", "Harmless, and nobody can be found by it. It is published as it is."),
    Role.PSEUDONYM: (
        "Pseudonym",
        "Names a person, and is published under a keyed name. It is not anonymous: the key holder can undo it.",
    ),
    Role.WEIGHT: ("Survey weight", "How many people a record stands for. For risks and measures."),
    Role.CLUSTER: ("Household", "Which household a record belongs to. Risks use it. It is not published."),
    Role.DROP: ("Drop", "Not published."),
}
KINDS = {
    Kind.NUMERIC: "numbers",
    Kind.ORDINAL: "ordered labels",
    Kind.NOMINAL: "labels",
    Kind.DATE: "dates",
}
MISSING = {
    Missing.OWN_CATEGORY: "An empty cell is a value like any other: it looks like other empty cells only.",
    Missing.WILDCARD: "An empty cell may stand for anything: classes it could belong to are judged together.",
    Missing.ERROR: "There must be no empty cells among the quasi-identifiers.",
}
CELLS = {name: form.in_words for name, form in forms.items() if not form.follows}
STATES = {
    "queued": "waiting",
    "running": "running",
    "done": "done",
    "failed": "failed",
    "cancelled": "cancelled",
    "interrupted": "interrupted: the studio was closed",
}
