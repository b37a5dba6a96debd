"""Countries and areas by region of the United Nations.

Countries are known by their English names, by the two- and three-letter codes of ISO 3166-1 and, with three digits, by
number. The narrower groups are the 22 that M49 calls sub-regions or, where it divides one further, intermediate
regions. Antarctica is in no region. Countries that no longer exist are where M49 had them; Taiwan (ISO 3166-1) and
Kosovo, which M49 does not list, are grouped with their neighbors.
"""

from __future__ import annotations

from hushtable.schema.classifications.base import Classification, named_or_many, spelling

_REGIONS: dict[tuple[str, str], str] = {
    ("Northern Africa", "Africa"): (
        "DZ DZA 012 Algeria; EG EGY 818 Egypt; LY LBY 434 Libya; MA MAR 504 Morocco; SD SDN 729 Sudan; TN TUN 788 "
        "Tunisia; EH ESH 732 Western Sahara"
    ),
    ("Eastern Africa", "Africa"): (
        "IO IOT 086 British Indian Ocean Territory; BI BDI 108 Burundi; KM COM 174 Comoros; DJ DJI 262 Djibouti; "
        "ER ERI 232 Eritrea; ET ETH 231 Ethiopia; TF ATF 260 French Southern Territories; KE KEN 404 Kenya; MG "
        "MDG 450 Madagascar; MW MWI 454 Malawi; MU MUS 480 Mauritius; YT MYT 175 Mayotte; MZ MOZ 508 Mozambique; "
        "RE REU 638 Réunion; RW RWA 646 Rwanda; SC SYC 690 Seychelles; SO SOM 706 Somalia; SS SSD 728 South "
        "Sudan; UG UGA 800 Uganda; TZ TZA 834 Tanzania; ZM ZMB 894 Zambia; ZW ZWE 716 Zimbabwe"
    ),
    ("Middle Africa", "Africa"): (
        "AO AGO 024 Angola; CM CMR 120 Cameroon; CF CAF 140 Central African Republic; TD TCD 148 Chad; CG COG 178 "
        "Congo; CD COD 180 Democratic Republic of the Congo; GQ GNQ 226 Equatorial Guinea; GA GAB 266 Gabon; ST "
        "STP 678 Sao Tome and Principe"
    ),
    ("Southern Africa", "Africa"): (
        "BW BWA 072 Botswana; SZ SWZ 748 Eswatini; LS LSO 426 Lesotho; NA NAM 516 Namibia; ZA ZAF 710 South Africa"
    ),
    ("Western Africa", "Africa"): (
        "BJ BEN 204 Benin; BF BFA 854 Burkina Faso; CV CPV 132 Cabo Verde; CI CIV 384 Côte d'Ivoire; GM GMB 270 "
        "Gambia; GH GHA 288 Ghana; GN GIN 324 Guinea; GW GNB 624 Guinea-Bissau; LR LBR 430 Liberia; ML MLI 466 "
        "Mali; MR MRT 478 Mauritania; NE NER 562 Niger; NG NGA 566 Nigeria; SH SHN 654 Saint Helena; SN SEN 686 "
        "Senegal; SL SLE 694 Sierra Leone; TG TGO 768 Togo"
    ),
    ("Caribbean", "Americas"): (
        "AI AIA 660 Anguilla; AG ATG 028 Antigua and Barbuda; AW ABW 533 Aruba; BS BHS 044 Bahamas; BB BRB 052 "
        "Barbados; BQ BES 535 Bonaire, Sint Eustatius and Saba; VG VGB 092 British Virgin Islands; KY CYM 136 "
        "Cayman Islands; CU CUB 192 Cuba; CW CUW 531 Curaçao; DM DMA 212 Dominica; DO DOM 214 Dominican Republic; "
        "GD GRD 308 Grenada; GP GLP 312 Guadeloupe; HT HTI 332 Haiti; JM JAM 388 Jamaica; MQ MTQ 474 Martinique; "
        "MS MSR 500 Montserrat; PR PRI 630 Puerto Rico; BL BLM 652 Saint Barthélemy; KN KNA 659 Saint Kitts and "
        "Nevis; LC LCA 662 Saint Lucia; MF MAF 663 Saint Martin; VC VCT 670 Saint Vincent and the Grenadines; SX "
        "SXM 534 Sint Maarten; TT TTO 780 Trinidad and Tobago; TC TCA 796 Turks and Caicos Islands; VI VIR 850 "
        "United States Virgin Islands"
    ),
    ("Central America", "Americas"): (
        "BZ BLZ 084 Belize; CR CRI 188 Costa Rica; SV SLV 222 El Salvador; GT GTM 320 Guatemala; HN HND 340 "
        "Honduras; MX MEX 484 Mexico; NI NIC 558 Nicaragua; PA PAN 591 Panama"
    ),
    ("South America", "Americas"): (
        "AR ARG 032 Argentina; BO BOL 068 Bolivia; BV BVT 074 Bouvet Island; BR BRA 076 Brazil; CL CHL 152 Chile; "
        "CO COL 170 Colombia; EC ECU 218 Ecuador; FK FLK 238 Falkland Islands; GF GUF 254 French Guiana; GY GUY "
        "328 Guyana; PY PRY 600 Paraguay; PE PER 604 Peru; GS SGS 239 South Georgia and the South Sandwich "
        "Islands; SR SUR 740 Suriname; UY URY 858 Uruguay; VE VEN 862 Venezuela"
    ),
    ("Northern America", "Americas"): (
        "BM BMU 060 Bermuda; CA CAN 124 Canada; GL GRL 304 Greenland; PM SPM 666 Saint Pierre and Miquelon; US "
        "USA 840 United States of America"
    ),
    ("Central Asia", "Asia"): (
        "KZ KAZ 398 Kazakhstan; KG KGZ 417 Kyrgyzstan; TJ TJK 762 Tajikistan; TM TKM 795 Turkmenistan; UZ UZB 860 "
        "Uzbekistan"
    ),
    ("Eastern Asia", "Asia"): (
        "CN CHN 156 China; HK HKG 344 Hong Kong; MO MAC 446 Macao; KP PRK 408 Democratic People's Republic of "
        "Korea; JP JPN 392 Japan; MN MNG 496 Mongolia; KR KOR 410 Republic of Korea; TW TWN 158 Taiwan"
    ),
    ("South-eastern Asia", "Asia"): (
        "BN BRN 096 Brunei Darussalam; KH KHM 116 Cambodia; ID IDN 360 Indonesia; LA LAO 418 Lao People's "
        "Democratic Republic; MY MYS 458 Malaysia; MM MMR 104 Myanmar; PH PHL 608 Philippines; SG SGP 702 "
        "Singapore; TH THA 764 Thailand; TL TLS 626 Timor-Leste; VN VNM 704 Viet Nam"
    ),
    ("Southern Asia", "Asia"): (
        "AF AFG 004 Afghanistan; BD BGD 050 Bangladesh; BT BTN 064 Bhutan; IN IND 356 India; IR IRN 364 Iran; MV "
        "MDV 462 Maldives; NP NPL 524 Nepal; PK PAK 586 Pakistan; LK LKA 144 Sri Lanka"
    ),
    ("Western Asia", "Asia"): (
        "AM ARM 051 Armenia; AZ AZE 031 Azerbaijan; BH BHR 048 Bahrain; CY CYP 196 Cyprus; GE GEO 268 Georgia; IQ "
        "IRQ 368 Iraq; IL ISR 376 Israel; JO JOR 400 Jordan; KW KWT 414 Kuwait; LB LBN 422 Lebanon; OM OMN 512 "
        "Oman; QA QAT 634 Qatar; SA SAU 682 Saudi Arabia; PS PSE 275 State of Palestine; SY SYR 760 Syrian Arab "
        "Republic; TR TUR 792 Türkiye; AE ARE 784 United Arab Emirates; YE YEM 887 Yemen"
    ),
    ("Eastern Europe", "Europe"): (
        "BY BLR 112 Belarus; BG BGR 100 Bulgaria; CZ CZE 203 Czechia; HU HUN 348 Hungary; PL POL 616 Poland; MD "
        "MDA 498 Moldova; RO ROU 642 Romania; RU RUS 643 Russian Federation; SK SVK 703 Slovakia; UA UKR 804 "
        "Ukraine"
    ),
    ("Northern Europe", "Europe"): (
        "AX ALA 248 Åland Islands; GG GGY 831 Guernsey; JE JEY 832 Jersey; DK DNK 208 Denmark; EE EST 233 "
        "Estonia; FO FRO 234 Faroe Islands; FI FIN 246 Finland; IS ISL 352 Iceland; IE IRL 372 Ireland; IM IMN "
        "833 Isle of Man; LV LVA 428 Latvia; LT LTU 440 Lithuania; NO NOR 578 Norway; SJ SJM 744 Svalbard and Jan "
        "Mayen; SE SWE 752 Sweden; GB GBR 826 United Kingdom"
    ),
    ("Southern Europe", "Europe"): (
        "AL ALB 008 Albania; AD AND 020 Andorra; BA BIH 070 Bosnia and Herzegovina; HR HRV 191 Croatia; GI GIB "
        "292 Gibraltar; GR GRC 300 Greece; VA VAT 336 Holy See; IT ITA 380 Italy; MT MLT 470 Malta; ME MNE 499 "
        "Montenegro; MK MKD 807 North Macedonia; PT PRT 620 Portugal; SM SMR 674 San Marino; RS SRB 688 Serbia; "
        "SI SVN 705 Slovenia; ES ESP 724 Spain"
    ),
    ("Western Europe", "Europe"): (
        "AT AUT 040 Austria; BE BEL 056 Belgium; FR FRA 250 France; DE DEU 276 Germany; LI LIE 438 Liechtenstein; "
        "LU LUX 442 Luxembourg; MC MCO 492 Monaco; NL NLD 528 Netherlands; CH CHE 756 Switzerland"
    ),
    ("Australia and New Zealand", "Oceania"): (
        "AU AUS 036 Australia; CX CXR 162 Christmas Island; CC CCK 166 Cocos (Keeling) Islands; HM HMD 334 Heard "
        "Island and McDonald Islands; NZ NZL 554 New Zealand; NF NFK 574 Norfolk Island"
    ),
    ("Melanesia", "Oceania"): (
        "FJ FJI 242 Fiji; NC NCL 540 New Caledonia; PG PNG 598 Papua New Guinea; SB SLB 090 Solomon Islands; VU "
        "VUT 548 Vanuatu"
    ),
    ("Micronesia", "Oceania"): (
        "GU GUM 316 Guam; KI KIR 296 Kiribati; MH MHL 584 Marshall Islands; FM FSM 583 Federated States of "
        "Micronesia; NR NRU 520 Nauru; MP MNP 580 Northern Mariana Islands; PW PLW 585 Palau; UM UMI 581 United "
        "States Minor Outlying Islands"
    ),
    ("Polynesia", "Oceania"): (
        "AS ASM 016 American Samoa; CK COK 184 Cook Islands; PF PYF 258 French Polynesia; NU NIU 570 Niue; PN PCN "
        "612 Pitcairn; WS WSM 882 Samoa; TK TKL 772 Tokelau; TO TON 776 Tonga; TV TUV 798 Tuvalu; WF WLF 876 "
        "Wallis and Futuna"
    ),
    ("Antarctica", "Antarctica"): ("AQ ATA 010 Antarctica"),
}
_OTHER_NAMES = (
    "BN Brunei; BO Plurinational State of Bolivia; BQ Bonaire; CD Congo-Kinshasa; CD Congo, Democratic Republic; "
    "CD DR Congo; CD Zaire; CG Congo-Brazzaville; CG Republic of the Congo; CI Ivory Coast; CN Mainland China; CN "
    "People's Republic of China; CO Columbia; CV Cape Verde; CZ Czech Republic; CZ Czechoslovakia; DE East "
    "Germany; DE West Germany; FK Malvinas; FM Micronesia; GB England; GB Great Britain; GB Northern Ireland; GB "
    "Scotland; GB UK; GB Wales; HK Hong Kong SAR; IR Islamic Republic of Iran; KP North Korea; KR Korea; KR South "
    "Korea; LA Laos; MD Republic of Moldova; MK Macedonia; MM Burma; MO Macau; NL Holand-Netherlands; NL Holland; "
    "PN Pitcairn Islands; PS Palestine; RS Serbia and Montenegro; RS Yugoslavia; RU Russia; RU Soviet Union; RU "
    "USSR; SH Saint Helena, Ascension and Tristan da Cunha; SY Syria; SZ Swaziland; TL East Timor; TR Turkey; TT "
    "Trinadad&Tobago; TW Taiwan, Province of China; TZ United Republic of Tanzania; UM "
    "Outlying-US(Guam-USVI-etc); US America; US United States; US U.S.A.; VA Vatican; VA Vatican City; VE "
    "Bolivarian Republic of Venezuela; VG Virgin Islands (British); VI US Virgin Islands; VI Virgin Islands "
    "(U.S.); VN Vietnam"
)


def _read() -> tuple[dict[str, tuple[str, str]], tuple[tuple[str, ...], ...]]:
    groups: dict[str, tuple[str, str]] = {"XK": ("Southern Europe", "Europe"), "XKX": ("Southern Europe", "Europe")}
    groups["kosovo"], forms = groups["XK"], []
    for region, countries in _REGIONS.items():
        for country in countries.split("; "):
            two, three, number, name = country.split(" ", 3)
            forms.append((name, two, three, number))
            for known in (two, three, number, spelling(name)):
                groups[known] = region
    for other in _OTHER_NAMES.split("; "):
        two, name = other.split(" ", 1)
        groups[spelling(name)] = groups[two]
    return groups, tuple(forms)


_GROUPS, _FORMS = _read()


def _place(value: str) -> tuple[str, str] | None:
    text = value.strip()
    if text.isdecimal():
        return _GROUPS.get(text) if len(text) == 3 else None
    if len(text) in (2, 3) and text.upper() in _GROUPS:
        return _GROUPS[text.upper()]
    head, _, tail = text.partition(",")
    # "Korea, Republic of", "Saint Martin (French part)"
    spellings = (text, f"{tail} {head}", text.partition("(")[0])
    return next((_GROUPS[spelling(tried)] for tried in spellings if spelling(tried) in _GROUPS), None)


CLASSIFICATION = Classification(
    name="countries",
    title="countries",
    source="United Nations Statistics Division, Standard country or area codes for statistical use (M49); ISO 3166-1",
    version="M49 as of 2024",
    levels=("sub-region", "region"),
    place=_place,
    codes=lambda: (name for name, *_ in _FORMS),
    forms=_FORMS,
    about="country countries nation nationality citizenship citizen native birthplace birth origin residence land",
    telling=named_or_many,
)
