-- what analysts see: coarser columns, no names. The model is built only if every class has at least five people.
{{ config(
    materialized="table",
    post_hook=[
        "copy {{ this }} to '.audit.parquet'",
        "select hushtable_audit('.audit.parquet', 'decade,sex,continent', 'k=5')",
    ],
) }}

select
    age // 20 * 20 as decade,
    sex,
    if(country in ('Turkey'), 'outside Europe', 'Europe') as continent,
    diagnosis
from read_csv('patients.csv')
qualify count(*) over (partition by age // 20, sex, country in ('Turkey')) >= 5
