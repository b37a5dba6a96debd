#!/usr/bin/env bash
# A data steward publishes a table: describe it, choose the settings by what they cost, publish, attack, hand over the
# evidence. Run it in an empty folder with a table, or without one to see it on patients that nobody ever was:
#
#     examples/steward.sh [TABLE.csv]
set -euo pipefail

table=${1:-}
if [[ -z $table ]]; then
  hushtable demo --rows 400 --output demo >/dev/null
  table=demo/patients.csv
fi

# 1. What is in the table, and who could know it? Read policy.yaml and correct the roles before going on.
hushtable init "$table" --output policy.yaml
hushtable check policy.yaml --data "$table"

# 2. Which settings are worth it here? Every combination, measured; an interrupted comparison goes on where it stopped.
hushtable compare policy.yaml --data "$table" --algorithms mondrian,datafly --k 5,12 --suppression 0,0.05 --jobs 1
hushtable suggest comparison --minimise ncp --where 'prosecutor <= 0.09' --output chosen.yaml

# 3. Publish. Nothing is written that was not verified from the published cells.
hushtable run chosen.yaml --data "$table" --output release
hushtable verify release/release.csv --policy chosen.yaml

# 4. What do adversaries still learn, and what has the release lost?
hushtable attack release --data "$table" --only homogeneity,linkage,skewness
hushtable measure release --data "$table" --only ncp,query-error

# 5. The page that the protection officer signs.
hushtable report release --data "$table" --template ema --output evidence.html
echo "To publish: release/release.csv. To sign: evidence.html."
