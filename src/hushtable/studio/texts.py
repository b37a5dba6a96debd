"""All texts of the studio's pages in one place; ``labels`` has the names of things."""

from __future__ import annotations

from hushtable.registry import forms
from hushtable.schema.columns import Kind, Missing, Role


class T:
    """Sentences, by purpose."""

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
    LINKED_TABLES = "Linked tables"
    LINKED_FOUND = "{people:,} people with {events:,} events; {people_without_events:,} people have none."
    LINKED_POLICY = "Policy of the tables"
    LINKED_POLICY_TEXT = "What others may know, what must stay secret, and the promise. Change it here, then run it."
    LINKED_SAVE = "Save the policy"
    LINKED_STEP = "This step is for one table. Linked tables are set up on the Data page and then run."
    NO_DATA = "There is no table yet. Start with the Data step."
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
        "5,000 generated patients, none of whom exist, with roles, hierarchies and models already chosen. Follow the "
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
    UPLOAD_TEXT = (
        "CSV, TSV, Parquet, Arrow or Excel, up to {}; or a ZIP file with linked tables and their policy.yaml. It is "
        "copied into the project, and deleted with it."
    )
    UPLOAD_LABEL = "Choose a file, or drop it here:"
    UPLOADING = "Uploading ..."
    UNPACKED = "Unpacked size limit (MiB)"
    UNPACKED_HINT = "A file that unpacks to more is refused. Empty: 64 to 1024 MiB, depending on the size of the file"
    REJECTED = "This file is too large or of a type that the studio does not accept."
    DATABASE = "Query a database"
    DATABASE_TEXT = "The address is used once and not kept. Only a single SELECT is run."
    ADDRESS = "Address"
    ADDRESS_HINT = "postgresql://user:password@host/database"
    QUERY = "SELECT"
    FETCH = "Run the query"
    PREVIEW = "Preview"
    COLUMNS = "Columns"
    FOUND_IN_DATA = "Findings"
    SEE_COLUMNS = "Kind, role and uniqueness of each column are on the next step, Columns."
    DUPLICATES = "{:,} rows repeat an earlier row."
    SHEET = "Sheet of the workbook"
    SHEET_HINT = "It cannot be changed once there is a release."
    SHEET_SURE = "Read the sheet “{}” instead? Roles, hierarchies and models are suggested again."
    SHEET_TAKE = "Read this sheet"
    OTHER_DATA = "Use other data"
    TOKENS_FOUND = "Treated as missing values: {}. Change the list under Protect, Settings."
    TOKENS_MAYBE = "Might represent a missing value: {}. If so, add it under Protect, Settings."
    REPEATED = (
        "{name} has {distinct:,} values in {rows:,} rows: a person seems to have several rows. Therefore, people are "
        "counted instead of rows. You can change this under Protect, Settings."
    )

    ROLES_TEXT = (
        "Each role is a suggestion; click a column's name for the reason. For every column, ask: could someone know "
        "this about a person, and could the person be harmed if it became known?"
    )
    ROLE = "Role"
    KIND = "Kind of values"
    ADDS = "In combination with other columns, it makes up to {} more of the records unique."
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
        "Share of records that are unique on a few columns together. A neighbor who knows these values about a person "
        "finds that person's row."
    )
    SAMPLED = "Counted on {:,} evenly spaced rows."

    HIERARCHIES_TEXT = (
        "To hide people among others, values are replaced by coarser ones. A hierarchy defines them, level by level: "
        "34 → 30 to 39 → 20 to 59 → anything."
    )
    COLUMN = "Column"
    RECIPE = "How to build it"
    SPREAD = "Distribution of the values"
    FREQUENT = "Most frequent values"
    CUTS = "Orange lines: where the intervals of level {} begin."
    CHECK_OK = "This hierarchy covers every value. Labels on each level: {}."
    CHECK_BAD = "This hierarchy cannot be used yet:"
    LEVELS = "Some values and their labels, level by level"
    LEVEL = "Level {}"
    VALUE = "Value"
    SAVE = "Save this hierarchy"
    SAVED = "Saved."
    DISCARD = "Discard changes"
    NOT_SAVED = "This hierarchy is not saved: it cannot be used."
    ALL_HIERARCHIES = "All hierarchies"
    OVERVIEW_HEADS = ("Column", "How it is built", "Labels on each level", "Example")
    OVERVIEW_OK = "{} hierarchies; each covers every value. Click one to edit it."
    OVERVIEW_BAD = "{} of these hierarchies cannot be used yet. Click one to fix it."
    NOT_USABLE = "cannot be used"
    UNSAVED = "Not saved yet."
    WEIGHT_TITLE = "Weight"
    WEIGHT = "Weight: how much detail matters in this column"
    WEIGHT_HINT = "1 is the default; with 2, loss in this column counts twice"
    NEXT_COLUMN = "Next column: {}"
    TREE = "Tree"
    TREE_TEXT = (
        "One label per line; an indented label belongs to the one above it. Choose values and put them into a "
        "group, or edit the text."
    )
    GROUP_VALUES = "Values to group"
    GROUP_NAME = "Name of the group"
    GROUP = "Put together"
    IMPORT = "Import or export a hierarchy file"
    IMPORT_TEXT = "A CSV file with one row per value (the value first, then its label on each level), or a YAML tree."
    EXPORT_CSV = "Export the saved hierarchy as CSV"
    NO_QUASI = "No column is a quasi-identifier yet, so no values need to be generalized."

    PROTECT_TEXT = (
        "All models that you choose must hold. Some hide a person's identity, others hide sensitive values: most "
        "tables need one of each. A class is a set of people who look the same in the release."
    )
    MODELS = "Privacy models"
    ADD_MODEL = "Add a model"
    REMOVE = "Remove"
    ALGORITHM = "Algorithm"
    ALGORITHM_TEXT = "The algorithm forms the classes. Any algorithm works with any model, or says why not."
    MORE = "What it means"
    SETTINGS = "Settings"
    SUPPRESSION = "Records that may be suppressed, in percent"
    SUPPRESSION_HINT = "Suppressing a few unusual records preserves detail in all others."
    MISSING = "Meaning of an empty cell"
    CELLS = "Notation of generalized values"
    SEED = "Seed"
    SEED_HINT = "For what measures and attacks draw; it does not change the release."
    ENTITY = "Column that identifies each row's person"
    ENTITY_HINT = "If a person has several rows, people are counted instead of rows."
    ENTITY_NONE = "every row is a different person"
    FORMAT = "File format of the release"
    FOR_SPREADSHEETS = "CSV for spreadsheets"
    TOKENS = "Texts that represent a missing value, separated by commas"
    CATEGORIES = "Which values are the most sensitive"
    CATEGORIES_TEXT = (
        "Some models weight values by how sensitive they are. List categories, the most sensitive first, with their "
        "values indented below. Leave this empty if all values are equally sensitive."
    )
    ORDERS = "Labels that have an order"
    ORDERS_TEXT = "One label per line, from low to high (never, rarely, often). Leave this empty if there is no order."
    TREATMENTS = "Treatments of columns"
    TREATMENTS_TEXT = (
        "Swap, round or draw values before records are grouped. Models are then verified on the treated values. "
        "Leave this empty unless you need it: most treatments guarantee nothing."
    )
    OUTSIDE = "Outside knowledge"
    OUTSIDE_TEXT = (
        "Some models count people in a larger population, or use an adversary's prior beliefs. Upload these tables "
        "here; they contain the quasi-identifiers under the same column names."
    )
    OUTSIDE_NONE = "none"
    POPULATION = "Table of the population"
    POPULATION_HINT = "for models that count similar people in the population"
    BACKGROUND = "Background table (prior beliefs)"
    BACKGROUND_ON = "Its sensitive column"
    BACKGROUND_SHARE = "Its column of probabilities"
    POLICY = "The policy as text"
    POLICY_TEXT = (
        "All your choices, as the file that the command line and Python use. Edit it here, or paste another one. "
        "It refers to files of the project as files/NAME."
    )
    POLICY_SAVE = "Use this policy"
    FEASIBLE = "Can this work?"
    FEASIBLE_OK = "No problems found."
    FEASIBLE_BAD = "Fix these before a run:"
    CHECKING = "Checking ..."
    CAN_HOLD = {True: "yes, as far as can be checked", False: "no", None: "not known yet"}
    COMBINATIONS = "Number of combinations of hierarchy levels: {:,}."

    RUN_TEXT = (
        "Runs the current policy. The result is verified from its own cells; a release that breaks a promise is "
        "never kept."
    )
    START = "Start a run"
    LEFT = "about {} left"
    LONGER = "taking longer than estimated"
    STOP = "Cancel the run"
    STOPPING = "Canceling ..."
    RUNS = "Releases"
    DELETE_RUN = "Delete release {} with all its findings? This cannot be undone."
    DELETE_RELEASE = "Delete release {}"
    RUN_NAME = "Release {}"
    VERIFIED = "verified"
    PRICES = "Costliest settings"
    PRICE_COLUMNS = ("change", "detail lost", "error of counts", "policy setting")
    RUN_DONE = "Release {} is finished, and every promise of the policy holds."
    NOT_RUN = "Runs without a release"
    BLOCKED = "The policy is not complete yet:"

    TRIALS = "Not sure? Compare settings"
    TRIALS_TEXT = (
        "Every combination of the lists below is run on your table and measured. Only the figures are kept. The "
        "setting that you choose becomes the policy; Start a run makes its release."
    )
    TRIALS_ALGORITHMS = "Algorithms to try"
    TRIALS_VALUES = "{param} of {model}: values to try"
    TRIALS_VALUES_HINT = "separated by commas"
    TRIALS_LEFT_OUT = "Records that may be suppressed, in percent: values to try"
    TRIALS_START = "Compare"
    TRIALS_STOP = "Cancel the comparison"
    TRIALS_KEPT = "Finished settings are not run again."
    TRIALS_FOUND = "Results of the comparison"
    TRIALS_FOUND_TEXT = (
        "Risk: the highest chance that a person is found. Loss: the share of detail that is lost. ★ marks settings "
        "that no other setting beats in both."
    )
    TRIALS_HEADS = ("setting", "algorithm", "models", "suppression limit", "risk", "loss", "suppressed", "")
    TRIALS_COMMON = "Common to all settings: {}."
    TRIALS_SAME = "as above"
    TRIALS_AXES = ("risk that a person is found", "loss of detail")
    TRIALS_SUGGEST = "Suggest one"
    TRIALS_RISK = "Risk at most, in percent"
    TRIALS_LOST = "Suppressed at most, in percent"
    TRIALS_BEST = "Setting {}: {}, {}. It has the least loss among the {} of {} settings within these limits."
    TRIALS_USE = "Use setting {}"
    TRIALS_USED = "Setting {} is the policy now. Start a run to make the release."
    TRIALS_POINT = "Setting"

    WHICH = "Release"
    SPACE = "Solutions of the search"
    SPACE_TEXT = (
        "Every mark is a combination of levels. Lower marks keep more detail; marks further left suppress fewer "
        "people. Filled circles keep all promises, empty squares do not; the ringed mark is this release. Choose a "
        "mark to see its details and to turn it into a release."
    )
    SPACE_AXES = ("people suppressed", "sum of levels")
    ALLOWED = "allowed: {:,}"
    ONLY_FITS = "Only those that keep all promises"
    MOST_SHOWN = "Showing {shown:,} of {total:,} solutions, best first."
    LEVEL_OF = "{}: at most"
    CHOSEN = "Solution"
    APPLY = "Make this a release"
    APPLIED = "The run has started; see the Run step."
    DOES_NOT_FIT = "This one does not keep all promises."
    NO_SPACE = (
        "{} makes one release without searching for others. Algorithms that generalize whole columns, such as optimal, "
        "show the solutions that they examined here; choose one under Protect."
    )
    PARTITION = "Equivalence classes"
    PARTITION_TEXT = (
        "The people in a class look the same. Larger classes hide people better; smaller classes keep more detail."
    )
    SIZES = "Number of classes by size"
    SIZES_AXES = ("people in a class", "classes")
    MAP = "Map of the classes"
    MAP_TEXT = (
        "Each rectangle is a class: the ranges that it covers in two columns. Small rectangles keep detail. At most 90 "
        "evenly chosen classes are drawn."
    )
    ACROSS = "Across"
    UP = "Up"
    FRONTIER = "Releases side by side"
    FRONTIER_TEXT = "Further left: smaller risk that a person is found. Lower: less loss."
    FRONTIER_ONE = "This project has one release. Make another one to compare their risk and loss."
    MEASURE = "Measure of loss"
    RISK_AXIS = "risk: 1 / smallest class"

    COMPARE_TITLE = "The release, row by row"
    COMPARE_TEXT = "The darker the blue of a cell, the more it was generalized."
    SHADES = ("unchanged", "slightly coarser", "coarser", "half of the detail", "little detail", "no detail")
    ORIGINAL = "Show my original rows with the release"
    ORIGINAL_TEXT = "They are read from the project on this machine and are never part of the release."
    AS_WAS = "original"
    AS_IS = "released"
    DISTRIBUTIONS = "Each column before and after"
    DISTRIBUTIONS_TEXT = "As in the evidence report, on one scale; columns with the largest loss come first."
    ALL_COLUMNS = "all, paged"
    COLUMNS_OF = "Columns {first:,} to {last:,} of {total:,}"
    BEFORE = "before"
    AFTER = "after"
    DISTINCT = "{:,} distinct values"
    CLASSES = "Classes"
    SHOW_CLASS = "Show its rows"
    ALL_ROWS = "Show all rows"
    CLASS_ROWS = "The {:,} rows of class {:,}"

    RISK = "Risk"
    RISK_TEXT = "How exposed people are in the original table and in the release."
    ASSESS = "Assess the risk"
    ESTIMATES = "Estimated number of people who are unique in the population"
    MEANINGS = "Explanation of these risks"
    FRACTION = "Share of the population that the table holds, in percent"
    FRACTION_HINT = "Leave this empty if it contains everybody."
    ATTACKS = "Attacks"
    ATTACKS_TEXT = (
        "Runs every published attack on the release. The baseline is how often the same guess is "
        "right without the release; only success beyond it is due to the release."
    )
    ATTACKS_CHART = "Success of attacks compared with guessing"
    ATTACKS_CAPTION = (
        "Dot: how often each adversary was right, with its 95% interval. Tick: how often the same guess is right "
        "without the release. Numbers: right / guessing."
    )
    ATTACK_ALL = "Run the attacks"
    ATTACK_SOME = "Attacks (default: all)"
    BEYOND = "beyond the baseline"
    WITHIN = "no better than guessing"
    LACKING = "Attacks that cannot run"

    EXPORT_TEXT = "Publish the release. Keep the evidence report: it compares the release with the original."
    VERIFY = "Verify the file again"
    VERIFY_TEXT = (
        "Repeats the check from the published file, the policy and the private companion, which stays on this machine."
    )
    VERIFY_OK = "Every promise holds, recomputed from the published cells."
    VERIFY_BAD = "The published file does not keep its promises:"
    VERIFY_UNKNOWN = "The file alone does not show this:"
    FILES = "Files"
    DOWNLOAD = "Download {}"
    BUNDLE = "Download the release with its files and code (ZIP)"
    EVIDENCE = "The evidence report"
    EVIDENCE_TEXT = (
        "One offline page for the data protection officer: what was done, the risk before and after, the attacks that "
        "were run, and what the models cannot promise. It contains no value of any person."
    )
    TEMPLATE = "Template"
    REPORT = "Write the evidence report"
    REPORT_AGAIN = "Write it again"
    REPORT_FETCH = "Download the report"
    CODE = "The same in Python"

    ROWS_OF = "Rows {first:,} to {last:,} of {total:,}"
    EARLIER = "Earlier rows"
    LATER = "Later rows"
    FAILED = "Something went wrong"
    EMPTY = "(empty)"


# What steps, roles, kinds and states are called on the studio's pages.


STEPS = {
    "data": ("Data", "Choose the table that you want to publish."),
    "columns": ("Columns", "Set what each column reveals about a person."),
    "hierarchies": ("Hierarchies", "Define how values may be generalized."),
    "protect": ("Protect", "Choose what the release must prevent."),
    "run": ("Run", "Make a release that keeps those promises."),
    "explore": ("Explore", "See other solutions, and choose one."),
    "compare": ("Compare", "Compare the release with the original."),
    "attack": ("Attack & risk", "Try to break the release before others do."),
    "export": ("Export", "Download the release, its policy and its evidence."),
}
"""Step -> title and purpose, in order."""

ROLES = {
    Role.IDENTIFIER: ("Identifier", "Names a person (name, number, e-mail). It is never published."),
    Role.QUASI: (
        "Quasi-identifier",
        "Others may know it about a person (age, postcode, job). It is generalized until nobody stands out.",
    ),
    Role.SENSITIVE: (
        "Sensitive",
        "Must not become known about a person (diagnosis, income). It is published, and protected by the models.",
    ),
    Role.INSENSITIVE: ("Insensitive", "Harmless, and nobody can be found by it. It is published unchanged."),
    Role.PSEUDONYM: (
        "Pseudonym",
        "Names a person, and is published under a keyed name. It is not anonymous: the key holder can undo it.",
    ),
    Role.WEIGHT: ("Survey weight", "The number of people that a record represents. Used by risks and measures."),
    Role.CLUSTER: ("Household", "The household of a record. Used by risks, and not published."),
    Role.DROP: ("Drop", "Not published."),
}
KINDS = {
    Kind.NUMERIC: "numbers",
    Kind.ORDINAL: "ordered labels",
    Kind.NOMINAL: "labels",
    Kind.DATE: "dates",
}
MISSING = {
    Missing.OWN_CATEGORY: "An empty cell is a value like any other: it only matches other empty cells.",
    Missing.WILDCARD: "An empty cell may be any value: all classes that it could belong to are checked together.",
    Missing.ERROR: "There must be no empty cells among the quasi-identifiers.",
}
CELLS = {name: form.in_words for name, form in forms.items() if not form.follows}
STATES = {
    "queued": "waiting",
    "running": "running",
    "done": "done",
    "failed": "failed",
    "cancelled": "canceled",
    "interrupted": "interrupted",
}
STOPPED = {
    "cancelled": ("You stopped it, and nothing was published.", "You can start it again."),
    "interrupted": ("The studio was closed.", "Start it again."),
}
"""State of a job that ended early, but not by an error -> reason and remedy."""
