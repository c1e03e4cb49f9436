"""The words that numbers, dates and names are written with, in the languages that the extraction covers.

Data only. Words are casefolded; languages are ISO 639-1 codes. A language that is not listed is read with what all
share: digits, ISO dates, symbols, capitals. In the tables a line is a value with the words for it, and an underscore
stands for a space.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_NUKTA = "\u093c"


def _spellings(word: str) -> set[str]:
    """A word as it is and, in Hindi, with the dot below as a mark of its own, in one with the letter, or left out."""
    apart = unicodedata.normalize("NFD", word)
    if _NUKTA not in apart:
        return {word}
    in_one = apart
    for code in range(0x958, 0x960):
        in_one = in_one.replace(unicodedata.normalize("NFD", chr(code)), chr(code))
    return {word, apart, in_one, apart.replace(_NUKTA, "")}


def _table(text: str) -> dict[str, str]:
    found = {}
    for line in text.strip().splitlines():
        value, _, words = line.partition(": ")
        for word in words.split():
            found.update(dict.fromkeys(_spellings(word.replace("_", " ")), value.replace("_", " ")))
    return found


def _numbers(text: str) -> dict[str, int]:
    return {word: int(value) for word, value in _table(text).items()}


DECIMAL_COMMA = _words("de fr es it pt nl pl ru sv da nb fi cs tr")
"""Languages that write 1.234,5 where English writes 1,234.5."""

WITHOUT_CAPITALS = _words("zh ja ko ar he fa hi bn th ur")

NOUNS_IN_CAPITALS = _words("de lb")

MONTHS: Mapping[str, int] = _numbers("""
1: january januar jänner janvier enero jan janv ene يناير जनवरी كانون_الثاني جانفي
2: february februar feber février febrero feb févr febr فبراير फ़रवरी फरवरी شباط فيفري
3: march märz mars marzo mar مارس मार्च آذار
4: april avril abril apr avr abr أبريل अप्रैल نيسان أفريل ابريل إبريل
5: may mai mayo maj مايو मई أيار ايار ماي
6: june juni juin junio jun يونيو जून حزيران جوان يونيه
7: july juli juillet julio jul juil يوليو जुलाई تموز جويلية يوليه يوليوز
8: august août agosto aug ago أغسطس अगस्त آب اغسطس غشت أوت
9: september septembre septiembre setiembre sep sept سبتمبر सितंबर सितम्बर أيلول ايلول شتنبر
10: october oktober octobre octubre oct okt أكتوبر अक्टूबर अक्तूबर تشرين_الأول تشرين_الاول اكتوبر
11: november novembre noviembre nov نوفمبر नवंबर नवम्बर تشرين_الثاني نونبر
12: december dezember décembre diciembre dec dez déc dic ديسمبر दिसंबर दिसम्बर كانون_الأول كانون_الاول دجنبر
""")

SHORT_MONTHS = _words(
    "jan feb mar apr maj jun jul aug sep sept oct okt nov dec dez janv ene févr febr avr abr juil ago déc dic"
)
"""Read as months only beside a day or a year."""

DOUBTFUL_MONTHS = _words("مارس آب ماي أوت جوان غشت may march august mars mai mar april june mayo julio abril")
"""Also names or other words: alone they are months only after a preposition."""

WEEKDAYS: Mapping[str, int] = _numbers("""
1: montagmorgen montagvormittag montagmittag montagnachmittag montagabend montagnacht mondays
1: monday montag lundi lunes الأثنين الاثنين الإثنين सोमवार 礼拜一 週一 星期一 周一 月曜日 月曜
2: dienstagmorgen dienstagvormittag dienstagmittag dienstagnachmittag dienstagabend dienstagnacht tuesdays
2: tuesday dienstag mardi martes الثلاثاء الثلثاء मंगलवार 礼拜二 週二 星期二 周二 火曜日 火曜
3: mittwochmorgen mittwochvormittag mittwochmittag mittwochnachmittag mittwochabend mittwochnacht wednesdays
3: wednesday mittwoch mercredi miércoles الأربعاء الاربعاء बुधवार 礼拜三 週三 星期三 周三 水曜日 水曜
4: donnerstagmorgen donnerstagvormittag donnerstagmittag donnerstagnachmittag donnerstagabend donnerstagnacht
4: thursdays
4: thursday donnerstag jeudi jueves الخميس गुरुवार बृहस्पतिवार वीरवार 礼拜四 週四 星期四 周四 木曜日 木曜
5: freitagmorgen freitagvormittag freitagmittag freitagnachmittag freitagabend freitagnacht fridays
5: friday freitag vendredi viernes الجمعة शुक्रवार 礼拜五 週五 星期五 周五 金曜日 金曜
6: samstagmorgen samstagvormittag samstagmittag samstagnachmittag samstagabend samstagnacht saturdays
6: saturday samstag sonnabend samedi sábado السبت शनिवार 礼拜六 週六 星期六 周六 土曜日 土曜
7: sonntagmorgen sonntagvormittag sonntagmittag sonntagnachmittag sonntagabend sonntagnacht sundays
7: sunday sonntag dimanche domingo الأحد الاحد रविवार इतवार 礼拜日 週日 星期日 周日 星期天 礼拜天 日曜日 日曜
""")

SHORT_WEEKDAYS: Mapping[str, int] = _numbers("""
1: mon mo
2: tue di
3: wed mi
4: thu do
5: fri fr
6: sat sa
7: sun so
""")
"""Read as days of the week only from one to another."""

CARDINALS: Mapping[str, Mapping[str, int]] = {
    "en": _numbers("""
0: zero
1: one first
2: two second
3: three third
4: four fourth
5: five fifth
6: six sixth
7: seven seventh
8: eight eighth
9: nine ninth
10: ten tenth
11: eleven eleventh
12: twelve twelfth
13: thirteen thirteenth
14: fourteen fourteenth
15: fifteen fifteenth
16: sixteen sixteenth
17: seventeen seventeenth
18: eighteen eighteenth
19: nineteen nineteenth
20: twenty twentieth
30: thirty thirtieth
40: forty fourty fortieth
50: fifty fiftieth
60: sixty sixtieth
70: seventy seventieth
80: eighty eightieth
90: ninety ninetieth
"""),
    "fr": _numbers("""
0: zéro
1: un une
2: deux
3: trois
4: quatre
5: cinq
6: six
7: sept
8: huit
9: neuf
10: dix
11: onze
12: douze
13: treize
14: quatorze
15: quinze
16: seize
20: vingt vingts
30: trente
40: quarante
50: cinquante
60: soixante
70: septante
80: huitante
90: nonante
2: deuxième second seconde
3: troisième
4: quatrième
5: cinquième
6: sixième
7: septième
8: huitième
9: neuvième
10: dixième
11: onzième
12: douzième
13: treizième
14: quatorzième
15: quinzième
16: seizième
20: vingtième
30: trentième
40: quarantième
50: cinquantième
60: soixantième
100: centième
"""),
    "es": _numbers("""
0: cero
1: uno un una
2: dos
3: tres
4: cuatro
5: cinco
6: seis
7: siete
8: ocho
9: nueve
10: diez
11: once
12: doce
13: trece
14: catorce
15: quince
16: dieciséis
17: diecisiete
18: dieciocho
19: diecinueve
20: veinte
21: veintiuno veintiún veintiuna
22: veintidós
23: veintitrés
24: veinticuatro
25: veinticinco
26: veintiséis
27: veintisiete
28: veintiocho
29: veintinueve
30: treinta
40: cuarenta
50: cincuenta
60: sesenta
70: setenta
80: ochenta
90: noventa
200: doscientos doscientas
300: trescientos trescientas
400: cuatrocientos cuatrocientas
500: quinientos quinientas
600: seiscientos seiscientas
700: setecientos setecientas
800: ochocientos ochocientas
900: novecientos novecientas
2: segundo segunda
3: tercer tercero tercera
4: cuarto cuarta
5: quinto quinta
6: sexto sexta
7: séptimo séptima
8: octavo octava
9: noveno novena
10: décimo décima
11: undécimo undécima
12: duodécimo duodécima
20: vigésimo vigésima
"""),
    "ar": _numbers("""
0: صفر
1: أحد إحدى
2: اثنان اثنين اثنتان اثنتين اثنا اثني اثنتا اثنتي
3: ثلاثة ثلاث
4: أربعة أربع
5: خمسة خمس
6: ستة ست
7: سبعة سبع
8: ثمانية ثماني ثمان
9: تسعة تسع
10: عشرة عشر
20: عشرون عشرين
30: ثلاثون ثلاثين
40: أربعون أربعين
50: خمسون خمسين
60: ستون ستين
70: سبعون سبعين
80: ثمانون ثمانين
90: تسعون تسعين
200: مئتان مئتين مائتان مائتين
300: ثلاثمئة ثلاثمائة
400: أربعمئة أربعمائة
500: خمسمئة خمسمائة
600: ستمئة ستمائة
700: سبعمئة سبعمائة
800: ثمانمئة ثمانمائة ثمانيمائة
900: تسعمئة تسعمائة
2000: ألفان ألفين
2000000: مليونان مليونين
2000000000: ملياران مليارين
"""),
    "hi": _numbers("""
1: एक
2: दो
3: तीन
4: चार
5: पाँच पांच
6: छह छः छे
7: सात
8: आठ
9: नौ
10: दस
11: ग्यारह
12: बारह
13: तेरह
14: चौदह
15: पंद्रह पन्द्रह
16: सोलह
17: सत्रह
18: अठारह अट्ठारह
19: उन्नीस
20: बीस
21: इक्कीस
22: बाईस
23: तेईस
24: चौबीस
25: पच्चीस
26: छब्बीस
27: सत्ताईस
28: अट्ठाईस अठाईस
29: उनतीस उन्तीस
30: तीस
31: इकतीस इकत्तीस
32: बत्तीस
33: तैंतीस
34: चौंतीस
35: पैंतीस
36: छत्तीस
37: सैंतीस
38: अड़तीस
39: उनतालीस
40: चालीस
41: इकतालीस
42: बयालीस
43: तैंतालीस
44: चौवालीस चवालीस
45: पैंतालीस
46: छियालीस
47: सैंतालीस
48: अड़तालीस
49: उनचास
50: पचास
51: इक्यावन
52: बावन
53: तिरपन
54: चौवन
55: पचपन
56: छप्पन
57: सत्तावन
58: अट्ठावन
59: उनसठ
60: साठ
61: इकसठ
62: बासठ
63: तिरसठ
64: चौंसठ
65: पैंसठ
66: छियासठ
67: सड़सठ
68: अड़सठ
69: उनहत्तर
70: सत्तर
71: इकहत्तर
72: बहत्तर
73: तिहत्तर
74: चौहत्तर
75: पचहत्तर
76: छिहत्तर
77: सतहत्तर
78: अठहत्तर
79: उन्यासी उनासी
80: अस्सी
81: इक्यासी
82: बयासी
83: तिरासी
84: चौरासी
85: पचासी
86: छियासी
87: सत्तासी
88: अट्ठासी
89: नवासी
90: नब्बे
91: इक्यानवे
92: बानवे
93: तिरानवे
94: चौरानवे
95: पचानवे पंचानवे
96: छियानवे
97: सत्तानवे
98: अट्ठानवे
99: निन्यानवे
"""),
}

MULTIPLIERS: Mapping[str, Mapping[str, int]] = {
    "en": _numbers("""
100: hundred
1000: thousand
1000000: million
1000000000: billion
1000000000000: trillion
"""),
    "de": _numbers("""
1000: tausend
1000000: million
1000000000: milliarde
1000000000000: billion
"""),
    "fr": _numbers("""
100: cent cents
1000: mille
1000000: million
1000000000: milliard
1000000000000: billion
"""),
    "es": _numbers("""
100: cien ciento cientos
1000: mil
1000000: millón millones
"""),
    "ar": _numbers("""
100: مئة مائة
1000: ألف آلاف ألفًا ألفا
1000000: مليون ملايين مليونًا مليونا
1000000000: مليار مليارات مليارًا مليارا
"""),
    "hi": _numbers("""
100: सौ
1000: हज़ार हजार
100000: लाख
10000000: करोड़
1000000000: अरब
100000000000: खरब
"""),
}

NO_COUNT = _words("""
एक أحد إحدى صفر अरब cero ein eine einem einen einer eins first one un una une uno zero zéro
""")
"""Too often an article, a pronoun or a unit of time to count alone."""

DOUBTFUL_ORDINALS = _words("second seconde segundo segunda cuarto quinto quinta")
"""Also a time or a room: alone they count only between a determiner and a noun."""

DETERMINERS = _words("""
the a his her its their our my your el la su un una mi tu nuestro nuestra le une sa son ma ta notre leur en du
""")

BEFORE_ORDINALS = _words("""
der die das den dem des die Der Die Das Den Dem im Im am Am zum zur vom beim einen einem einer eine ein sein seine
seinen seinem seiner seines ihr ihre ihren ihrem ihrer mein meine meinen dein unser unsere jeder jede jedes dieser
diese diesem diesen jeden jedem
""")
"""German: a figure with a full stop behind one of these is an ordinal."""

NO_NOUNS = _words("""
after ago and at before between de del en entre from hand in is la later le o of on or per por que to was when y et ou
qui avant après más
""")
"""What no ordinal stands before."""

FRACTIONS: Mapping[str, Mapping[str, int]] = {
    "en": _numbers("""
3: third thirds
4: quarter quarters fourth fourths
5: fifth fifths
6: sixth sixths
7: seventh sevenths
8: eighth eighths
9: ninth ninths
10: tenth tenths
"""),
    "de": _numbers("""
3: drittel dritteln
4: viertel vierteln
5: fünftel fünfteln
6: sechstel sechsteln
7: siebtel siebteln
8: achtel achteln
9: neuntel neunteln
10: zehntel zehnteln
"""),
    "fr": _numbers("""
3: tiers
4: quart quarts
5: cinquième cinquièmes
6: sixième sixièmes
7: septième septièmes
8: huitième huitièmes
9: neuvième neuvièmes
10: dixième dixièmes
"""),
    "es": _numbers("""
3: tercio tercios tercera_parte terceras_partes
4: cuarto cuartos cuarta_parte cuartas_partes
5: quinto quintos quinta_parte quintas_partes
6: sexto sextos sexta_parte sextas_partes
7: séptimos séptima_parte séptimas_partes
8: octavo octavos octava_parte octavas_partes
9: novenos novena_parte novenas_partes
10: décimos décima_parte décimas_partes
"""),
}
"""What stands below the stroke of a fraction in words."""

BELOW_TEN: Mapping[str, Mapping[str, int]] = {
    "en": _numbers("1: one\n2: two\n3: three\n4: four\n5: five\n6: six\n7: seven\n8: eight\n9: nine"),
    "de": _numbers("1: ein\n2: zwei\n3: drei\n4: vier\n5: fünf\n6: sechs\n7: sieben\n8: acht\n9: neun"),
    "fr": _numbers("1: un\n2: deux\n3: trois\n4: quatre\n5: cinq\n6: six\n7: sept\n8: huit\n9: neuf"),
    "es": _numbers("1: un una\n2: dos\n3: tres\n4: cuatro\n5: cinco\n6: seis\n7: siete\n8: ocho\n9: nueve"),
}
"""What stands above it."""

SCALES: Mapping[str, int] = _numbers("""
3: thousand tausend tsd mille mil 千 हज़ार हजार ألف آلاف
11: खरब
6: million millions mn mio millionen millón millones مليون ملايين मिलियन
9: बिलियन بليون billion billions bn md milliard milliards milliarde milliarden mrd مليار مليارات अरब
12: 万亿 萬億 trillion trillions tn 兆
4: 万 萬
8: 亿 億
5: lakh lakhs लाख
7: crore crores करोड़
""")
"""Powers of ten behind a figure."""

LETTERS_FOR_SCALES: Mapping[str, int] = {"k": 3, "m": 6, "b": 9, "t": 12}
"""The same as single letters, which are also units and variables."""

LONG_SCALE: Mapping[str, Mapping[str, int]] = {
    "de": _numbers("""
12: billion billionen
"""),
    "fr": _numbers("""
12: billion billions
"""),
    "es": _numbers("""
12: billón billones
9: mil_millones
"""),
}

CURRENCIES: Mapping[str, str] = _table("""
usd: $ ＄ us$ usd dollar dollars dólares 美元 美金 米ドル ドル دولار डॉलर dólar us-dollar us-dollars us_dollars
usd: u.s._dollars us_dollar dollars_américains dólares_estadounidenses
usd: دولار_أمريكي دولار_أميركي دولارًا_أمريكيًا دولارات अमेरिकी_डॉलर
cent: cent cents ¢ centime centimes céntimo céntimos centavo centavos pence penny سنت سنتات
eur: € eur euro euros 欧元 ユーロ يورو यूरो
gbp: £ gbp pounds_sterling pound_sterling livres_sterling libras_esterlinas britische_pfund british_pounds 英镑 英ポンド
gbp: جنيه_إسترليني جنيهًا_إسترلينيًا पाउंड पौंड
aud: aud a$ au$ australian_dollars
cad: cad c$ ca$ canadian_dollars dollars_canadiens
nzd: nzd nz$
hkd: hkd hk$ 港元 港币
sgd: sgd s$
brl: brl r$ reais real_brasileiro
sek: sek kronor
nok: nok
dkk: dkk
kr: kr kronen kroner couronnes coronas crowns
pln: pln zł zloty zlotys złoty
czk: czk kč
huf: huf forint
try: ₺ lira liras ليرة ليرة_تركية
uah: uah ₴ hryvnia
vnd: vnd ₫
php: php ₱
ils: ils ₪ shekels
ngn: ngn ₦ naira
thb: thb ฿ baht
zar: zar rand
clp: clp
cop: cop
ars: ars
pen: soles
dem: d-mark deutsche_mark reichsmark
esp: peseta pesetas
jpy: ¥ jpy yen 円 ￥ 日元 日圆 ين_ياباني येन
cny: 元 人民币 cny yuan rmb 人民元 块钱 元人民币 يوان युआन
inr: ₹ inr rs rs. rupee rupees rupien roupies rupias रुपये रुपए रुपया रुपयों रु रु. रू روبية روبيات
sar: sar ريال ريالات ريال_سعودي ريالًا_سعوديًا
aed: aed درهم دراهم درهم_إماراتي درهمًا_إماراتيًا
egp: egp جنيه جنيهات جنيه_مصري جنيهًا_مصريًا
chf: chf franken francs schweizer_franken francs_suisses swiss_francs francos_suizos 瑞士法郎 スイスフラン
mxn: mxn mx$ pesos peso pesos_mexicanos
krw: ₩ krw won ウォン 韩元 韓元
rub: ₽ rub rubles roubles rubel rublos 卢布 ルーブル
dinar: dinars دينار دنانير دينار_كويتي
paisa: पैसे पैसा
twd: nt$ 新台币 新臺幣 台币
""")

STANDARD_BODIES = _words("""
ANSI API ASTM BS CEN DIN EN ETSI IEC IEEE ISO ITU-T MIL-STD NF NFPA NIST OHSAS SAE UNE VDE VDI
""")
"""What names of standards begin with, several in a row."""

CURRENCY_CODES = frozenset(
    [
        *(
            "AED",
            "ARS",
            "AUD",
            "BRL",
            "CAD",
            "CHF",
            "CLP",
            "CNY",
            "COP",
            "CZK",
            "DKK",
            "EGP",
            "EUR",
            "GBP",
            "HKD",
            "HUF",
        ),
        *(
            "ILS",
            "INR",
            "JPY",
            "KRW",
            "MXN",
            "NGN",
            "NOK",
            "NZD",
            "PHP",
            "PLN",
            "RUB",
            "SAR",
            "SEK",
            "SGD",
            "THB",
            "UAH",
        ),
        *("USD", "VND", "ZAR"),
    ]
)
"""Read as currencies before a figure."""

UNITS: Mapping[str, str] = _table("""
%: % percent per_cent prozent pct pour_cent por_ciento ％ ٪ 百分之 パーセント प्रतिशत بالمئة بالمائة
%: في_المئة
pp: percentage_point percentage_points percentage-point percentage-points percent_points pp prozentpunkt prozentpunkte
pp: prozentpunkten %-punkte puntos_porcentuales punto_porcentual 百分点 个百分点 個百分点
bp: basis_point basis_points basis-point basis-points bps basispunkte basispunkten puntos_básicos
‰: ‰ per_mille
°c: °c ℃ ° degrees degree grad degrés grados degrees_celsius degree_celsius grad_celsius degrés_celsius
°c: grados_celsius 度 درجة_مئوية درجة डिग्री
°c: डिग्री_सेल्सियस
°f: °f degrees_fahrenheit grad_fahrenheit degrés_fahrenheit grados_fahrenheit
mm: mm millimetre millimetres millimeter millimeters millimetern millimètres milímetros 毫米 ミリ ミリメートル
cm: cm centimetre centimetres centimeter centimeters zentimeter zentimetern centimètres centímetros 厘米 センチ
cm: センチメートル سنتيمتر सेंटीमीटर
m: m metre metres meter meters metern mètre mètres metro metros 米 メートル متر أمتار मीटर
km: km kilometre kilometres kms kilometer kilometers kilometern kilomètre kilomètres kilómetro kilómetros 公里 千米
km: キロ キロメートル كيلومتر كم किलोमीटर किमी
mi: mi mile miles meilen milles millas 英里 マイル ميل मील
ft: ft foot feet pieds pies
in.: in. inch inches zoll pouces pulgadas 英寸
km²: km² sq_km square_kilometres square_kilometers square_kilometre kilomètre_carré kilómetro_cuadrado
km²: quadratkilometer quadratkilometern kilomètres_carrés
km²: kilómetros_cuadrados 平方公里 平方キロメートル كيلومتر_مربع वर्ग_किलोमीटर
m²: m² sqm sq_m square_metre square_meter mètre_carré metro_cuadrado square_metres square_meters quadratmeter
m²: quadratmetern mètres_carrés metros_cuadrados 平方米 平方メートル
m²: متر_مربع
ha: ha hectare hectares hektar hektare hectárea hectáreas 公顷
acre: acre acres
g: g gram grams gramm gramme grammes gramo gramos 克 グラム غرام جرام ग्राम
mg: mg milligram milligrams milligramm milligrammes miligramos 毫克 ミリグラム
kg: kg kilo kilos kilogram kilograms kilogramm kilogrammes kilogramo kilogramos 公斤 千克 キログラム كيلوغرام كجم
kg: किलो किलोग्राम
lb: lb lbs pound pounds pfund livres libras 磅
t: t ton tons tonne tonnes tonnen tonelada toneladas 吨 トン طن टन
l: l liter liters litern litre litres litro litros 升 リットル لتر लीटर
ml: ml milliliter millilitre milliliters millilitres mililitros 毫升 ミリリットル
cl: cl centilitres
s: s sec second seconds sekunde sekunden seconde secondes segundo segundos 秒 秒間 ثانية सेकंड
ms: ms millisecond milliseconds millisekunden 毫秒
min: min minute minutes minuten minuto minutos 分钟 分間 دقيقة دقائق मिनट
h: h hr hrs hour hours stunde stunden heure heures hora horas 小时 時間 ساعة ساعات घंटे घंटा
day: day days tag tage tagen jour jours día días 天 日間 أيام يوم दिन दिनों
week: week weeks woche wochen semaine semaines semana semanas 周 週間 أسبوع أسابيع सप्ताह हफ़्ते
month: month months monat monate monaten mois mes meses 个月 か月 カ月 ヶ月 أشهر شهر महीने
year: year years jahr jahre jahren an ans année années año años 年间 年間 سنة سنوات عامًا साल वर्ष
km/h: km/h kph kmh stundenkilometer 时速
mi/h: mph
m/s: m/s
w: w watt watts
kw: kw kilowatt kilowatts
mw: mw megawatt megawatts
kwh: kwh kilowatt-hours kilowattstunden
gwh: gwh
v: v volt volts
hz: hz hertz
khz: khz kilohertz
mhz: mhz megahertz
ghz: ghz gigahertz
kb: kb kilobyte kilobytes
mb: mb megabyte megabytes
gb: gb gigabyte gigabytes 吉字节 जीबी
tb: tb terabyte terabytes
kcal: kcal calorie calories kalorien kilokalorien kilocalories calorías
kj: kj
pa: pa pascal
hpa: hpa
bar: bar
db: db decibel decibels dezibel
nm: nm nanometre nanometres nanometer nanometers 纳米 ナノメートル
µm: µm micrometre micrometres
µg: µg μg mcg microgram micrograms mikrogramm microgrammes microgramos
ng: ng nanogram nanograms nanogramm
oz: oz oz. ounce ounces unzen onces onzas
fl_oz: fl_oz fl._oz. fluid_ounce fluid_ounces
gal: gal gallon gallons gallonen galones
yd: yd yard yards yardas
nmi: nmi nautical_mile nautical_miles seemeile seemeilen milles_marins millas_náuticas
kn: kn knot knots knoten nœuds nudos
mi²: mi² sq_mi square_mile square_miles quadratmeilen milles_carrés millas_cuadradas
ft²: ft² sq_ft square_foot square_feet quadratfuß pieds_carrés pies_cuadrados
cm²: cm² square_centimetres square_centimeters quadratzentimeter centimètres_carrés centímetros_cuadrados
m³: m³ cubic_metre cubic_metres cubic_meter cubic_meters kubikmeter kubikmetern mètre_cube mètres_cubes metro_cúbico
m³: metros_cúbicos
cm³: cm³ cubic_centimetres cubic_centimeters kubikzentimeter centimètres_cubes centímetros_cúbicos
km³: km³ cubic_kilometres cubic_kilometers kubikkilometer kilomètres_cubes kilómetros_cúbicos
ft³: ft³ cubic_foot cubic_feet
dl: dl deciliter decilitre deziliter décilitres
hl: hl hektoliter hectolitres hectolitros
bbl: bbl barrel barrels barils barriles
decade: decade decades jahrzehnt jahrzehnte jahrzehnten décennie décennies década décadas
century: century centuries jahrhunderte jahrhunderten siècles siglos
millennium: millennium millennia jahrtausend jahrtausende jahrtausenden millénaires milenios
quarter: quartal quartale quartalen trimestres
fortnight: fortnight fortnights
µs: µs microseconds mikrosekunden
ns: ns nanoseconds nanosekunden
mol: mol moles
mmol: mmol
µmol: µmol
kpa: kpa kilopascal kilopascals
mpa: mpa megapascal
psi: psi
mmhg: mmhg
atm: atm
j: joule joules
mj: mj megajoule megajoules
wh: wh
mwh: mwh megawatt-hours megawattstunden
twh: twh terawatt-hours terawattstunden
gw: gw gigawatt gigawatts
kv: kv
ma: ma milliamps
mah: mah
hp: hp horsepower ps cv
ev: ev
kev: kev
mev: mev
gev: gev
gy: gy
sv: sv
msv: msv
bq: bq
iu: iu
ppm: ppm
ppb: ppb
dpi: dpi
ppi: ppi
fps: fps
rpm: rpm u/min
bpm: bpm
nits: nits
lm: lm lumen lumens lúmenes
kib: kib
mib: mib
gib: gib
tib: tib
pb: pb petabyte petabytes
bit: bit bits
byte: byte bytes octets
kbit: kbit kbps
mbit: mbit mbps
gbit: gbit gbps
px: px
kelvin: kelvin
carat: carat carats karat
light-year: light-year light-years lichtjahre lichtjahren années-lumière años_luz 光年
pixel: pixel pixels
m³: m³ 立方米 立方メートル متر_مكعب أمتار_مكعبة घन_मीटर
km/h: 公里每小时 公里/小时 千米/小时 km/小时 キロメートル毎時
m/s: 米每秒 米/秒
h: 个小时 個小時 小時
min: 分鐘
s: 秒钟 秒鐘
day: 天间
month: ヵ月 箇月 個月 カ月間 か月間 ヶ月間 ヵ月間
week: 个星期 個星期 周间
%: بالمائه في_المائة فی_صد फ़ीसदी फ़ीसद परसेंट
pp: نقطة_مئوية نقاط_مئوية प्रतिशत_अंक
°c: درجات_مئوية درجات °م °مئوية डिग्री_सेंटीग्रेड
mm: ملم مم ميليمتر ملليمتر मिमी मिलीमीटर
cm: سم सेमी
m: أمتار मी
km: كيلومترات كيلو_متر कि.मी
mi: أميال
ft: قدم أقدام फ़ुट फ़ीट फुट फीट
in.: بوصة بوصات इंच
km²: كيلومترات_مربعة كم² كم_مربع वर्ग_किमी
m²: م² أمتار_مربعة वर्ग_मीटर
sqft: वर्ग_फ़ुट वर्ग_फुट
ha: هكتار هكتارات हेक्टेयर
feddan: فدان فدانًا أفدنة
acre: एकड़ فدّان
bigha: बीघा
g: غم जी_ग्राम
mg: ملغ ملغم مليغرام ملليجرام मिलीग्राम
kg: كغ كغم كلغ كيلوجرام كيلو كيلوغرامات किलो_ग्राम
quintal: क्विंटल कुंतल
t: أطنان
l: لترات ليتر
ml: مل مليلتر ملليلتر मिलीलीटर मिली
s: ثوان ثوانٍ ثواني सेकेंड सेकंडों
min: دقائق मिनटों
h: घंटों घण्टे
day: يومًا يوما
week: أسبوعا सप्ताहों हफ़्ता हफ्ते हफ्ता हफ़्तों हफ्तों
month: شهور شهرا माह महीना महीनों
year: عام أعوام سنين عاما सालों वर्षों बरस
century: قرون
km/h: كم/ساعة كيلومترًا_في_الساعة كيلومتر_في_الساعة كم_في_الساعة किमी/घंटा किमी_प्रति_घंटा
km/h: किलोमीटर_प्रति_घंटा किमी_प्रति_घंटे किलोमीटर_प्रति_घंटे
kw: كيلوواط किलोवाट
mw: ميغاواط ميجاوات मेगावाट
w: واط وات वाट
v: فولت वोल्ट
mb: ميغابايت ميجابايت एमबी
gb: غيغابايت جيجابايت गीगाबाइट
tb: تيرابايت टीबी
bbl: برميل براميل बैरल
kcal: سعرة_حرارية سعرات_حرارية कैलोरी
century: 个世纪 個世紀 世紀間
ha: ヘクタール
kw: 千瓦 キロワット
w: 瓦特 ワット
mw: 兆瓦 メガワット
kwh: 千瓦时 キロワット時
v: 伏特 ボルト
hz: 赫兹 ヘルツ
kcal: 千卡 大卡 卡路里 キロカロリー カロリー
db: 分贝 デシベル
in.: インチ
ft: 英尺 フィート
yd: ヤード
nmi: 海里
oz: 盎司 オンス
gal: 加仑 ガロン
bbl: バレル
kn: ノット
tsubo: 坪
µm: 微米 マイクロメートル ミクロン
mb: 兆字节 メガバイト
gb: ギガバイト
tb: 太字节 テラバイト
pixel: 像素 画素 ピクセル
°c: 摄氏度 攝氏度
""")

_FOREIGN = " van van_der van_den van_de von von_der von_den ten ter"

PARTICLES: Mapping[str, frozenset[str]] = {
    "en": frozenset(
        _table("""
in: of of_the the upon for de de_la de_las de_los del da dos di du van van_der van_den van_de von von_der zu
in: bin ibn bint al el la le ten ter ibn_al von_und_zu
""")
    ),
    "de": frozenset(_table("in: von von_der von_den vom zu zur van van_der van_den de der di da bin ibn an_der am im")),
    "fr": frozenset(_table("in: de de_la du des de_l d le la les bin ibn el al lès" + _FOREIGN)),
    "es": frozenset(_table("in: de de_la de_las de_los del la las los el bin ibn al da di" + _FOREIGN)),
}
"""Small words that join capitalised ones to one name."""

BEFORE_MONTHS = _words("""
in of by until till since from to last next early late this every mid through during between before after around
and en
في من حتى منذ إلى شهر بين de im seit bis ab am anfang mitte ende desde hasta depuis jusqu au
""")
"""What makes a month of a doubtful word behind it."""

BEFORE_PLACES = _words("in aus nach bei bis von")
"""German: a lone capitalised word behind one of these is a name."""

LEADING_PARTICLES = ("van der", "van den", "van de", "van", "bin", "ibn")
"""Small words that can only begin a name, so they belong to one that follows."""

HONORIFICS = _words("""
don doña dr dra fr frau fräulein herr herrn hon hr ing m mag me messrs mlle mme mr mrs ms mx prof rev sr sra srta
""")
"""Left out of names when abbreviated (Sr. before a name; after one it belongs to it)."""

ABBREVIATIONS = _words("""
capt co col corp ft gen inc jr lt ltd mt sgt sr st
""")
"""Words inside names whose full stop does not end them."""

SAME_NAMES: Mapping[str, str] = {
    "usa": "us",
    "united states of america": "united states",
    **dict.fromkeys(("first world war", "world war one", "world war 1"), "world war i"),
    **dict.fromkeys(("second world war", "world war two", "world war 2"), "world war ii"),
}
"""The words of names and those of another name of the same."""

HEADS_OF_NAMES = _words("first second third four five seven eight ten good great open most last")
"""English words that open sentences, and names where they are capitalised within one."""

STARTERS: Mapping[str, frozenset[str]] = {
    "en": _words("""
add adding subtract subtracting multiply multiplying divide dividing
former here's there's that's what's he's she's they're we're you're who's where's how's don't isn't didn't let's it'll
visiting using including considering being having founded located born based built written directed download contact
visit meet enter create remove replace restart save send type avoid preheat stir pour sure thank welcome great
hello absolutely congratulations honestly finally unlike inspired named called recent most much less half several
a about above according across actually add additionally after afterward afterwards against ago all almost along
also although amid among an and another answer any approximately are around as ask at be because been before
behind being below beneath beside besides between beyond born both bring but by call called can certainly check
children choose clearly click conclusion could critics currently dear despite did do doctors does down during
each earlier early eight either elsewhere especially even eventually every exactly example except experts fans
few finally find first five follow for fortunately four from further furthermore generally get give go good
great had half has have he hello hence her here hi his how however i i'd i'll i'm i've if in indeed initially
inside install instead interestingly into introduction is it it's its just keep known last late later lest let
let's like mainly make many maybe meanwhile members men might mix more moreover most mostly much must my named
near nearly neither net never nevertheless next nine no none nonetheless nor not notably note nothing now
nowadays obviously of off officials often ok okay on once one only onto open or originally other others
otherwise our out outside over overall particularly past people per perhaps please police possibly press
probably put question rather read recently regarding remember researchers result results roughly round run same
scientists second see select selon set seven several shall she shortly should similarly simply since six so some
sometimes soon specifically start step still stop students subsequently such summary sure surprisingly take
teachers tell ten than thanks that the their then there therefore these they third this those though three
through throughout thus to today together tomorrow too total toward towards try turn two type under underneath
unfortunately unless unlike until up update upon us use using usually versus very via visit was we well were
what when whenever where whereas wherever whether which while who whoever whom whose why will with within
without women would write yes yesterday yet you your
"""),
    "de": _words("""
ja nein bitte gern gerne vielen danke rund knapp fast ihnen ihrem ihren ihrer deren dessen jene jener damals zuletzt
herr herrn frau zunächst schließlich außerdem ebenso insgesamt meist meistens allein
aber alle allerdings als am an andere auch auf aus bei beide bereits bis da dabei dadurch dafür daher damit
danach dann das dem den der des deshalb die dies diese dieser dieses doch dort du durch ein eine einem einen
einer eines einige er es etwa für gegen gemäß hat hatte heute hier hinter ich ihr ihre im in ins ist jede jeder
jedes jedoch kann kein keine laut man manche mehr mit nach nachdem neben nicht noch nun nur ob obwohl oder ohne
schon sehr sein seine seit sie sind so sogar sowie später trotz um und unter viele vom von vor wann war waren
warum was wegen weil welche wenn wer wie wir wird wo wurde während zu zudem zuerst zum zur zwar zwischen über
"""),
    "fr": _words("""
environ bien peu beaucoup rien chacun personne née né selon jadis autrefois bientôt demain hier celui celle ceux
celles
quel quelle quels quelles merci oui soit suite toujours jamais parfois souvent ici là vu chers chère cher
a ainsi ajoutez alors appelez après au aucun aujourd aussi aux avait avant avec bonjour c car ce cependant
certaines certains ces cet cette chaque chez cliquez comment d dans de depuis des deux donc dont du elle elles
en enfin ensuite entre est et faites grâce hui il ils installez j je l la le les leur leurs lors lorsque ma mais
malgré mes mettez mon mélangez même n ne ni non notre nous on ont or ou oui ouvrez où par pas pendant plusieurs
pour pourquoi prenez puis qu quand quatre que quelques qui quoi remplacez s sa sans selon ses si son sont sous
sur tous tout toute toutefois toutes trois très tu un une vers versez voici voilà votre vous vérifiez à étaient
était
"""),
    "es": _words("""
unos cerca alrededor nadie alguien todo nada quizá quizás tal vez claro buena buenas bueno primero segundo
finalmente actualmente recientemente posteriormente sólo solo tan tanto cualquier ningún ninguna hubo hay eran será
nacido nacida mediante cuyo ahora ciertamente
a abra además al algunas algunos allí ante antes aquel aquí así aunque ayer añada bajo cada como con cuando
cuatro cuál cuáles cuándo cómo de debido del desde después donde dos durante dónde e el ella ellas ellos en
entonces entre era eran es esa esas ese esos esta estas este estos fue fueron gracias ha había han hasta hola
hoy instale la las le les llame lo los luego me menos mezcle mi mientras mis muchas muchos muy más ni no nos
nosotros nunca o otra otro otros para pero ponga por porque pues que quién qué sabías se según si siempre sin
sino sobre son su sus sí también te toda todas todo todos tras tres tu tus u un una unas unos usted ustedes
varios y ya yo él
"""),
}
"""Ordinary words that begin a sentence, or follow one that does, and so are no part of a name there."""

VERBS_AFTER_NAMES = _words("""
abandoned accepted accused achieved admitted adopted agreed approved arrested arrived attacked banned beats belongs
bombed bore broke captured carried cheered claims clinched commissioned competed confirmed conquered
crowned declared defended defines denied destroyed divorced dominated drew edited elected emigrated employed
enrolled escaped established exports finished flew fled fought governs hosted hosts imported
influenced inherited insisted invaded issued killed knew leads lobbied manufactured manages
 migrated operates opposed originated ordered outlined passed performed pioneered planned pledged praised predicted
promised proposed proved purchased ranked recalled recovered refused rejected replaced
represented resigned revealed ruled runs scored seized sells serves settled sought speaks
spoke studies supports sued surrendered teaches testified threw toured
trained translated unveiled uses voted warned weighed weighs wins withdrew wore has
acquired announced appeared argued asked attended beat became began believed borders bought built called came
claimed closed composed created defeated designed developed died directed discovered earned employs found
founded gave got graduated grew had has held introduced invented is joined launched led left lies lived lost
made married met moved named opened owned owns paid painted played plays produced published ran received
recorded released reported retired returned runs said sang says scored served signed sold spent starred studied
taught told took traveled travelled visited was went won worked writes wrote
""")
"""English: after these, a lone capitalised word at the beginning is a name unless it looks like an ordinary noun."""

VERBS_AFTER_NAMES_FR = _words("""
abrite accueille acheta affirme annonce annonça appartient arriva avait battit bat compose composa compte
conquit construisit créa devint devient dirigea domine découvrit déclara demeure enseigna envahit est exporte fabrique
fait fit fonda fut gagna gouverna inventa investit joua lança mesure meurt mourut naquit obtint occupe peignit perdit
possède produit produisit proposa publia publie quitta refusa remporta remporte reçut reste règne régna reprit rédigea
se sera signa signe sortit succéda travailla trouva tua va vainquit vend vint vit vécut écrivit épousa étudia était
""")
"""French: after these, a lone capitalised word at the beginning is a name."""

VERBS_AFTER_NAMES_ES = _words("""
abrió acoge aprobó cuenta debutó dijo dirigió era es está estaba exporta fabrica fue gana gobernó ha hace había limita
llegó mide murió nace nació ocupa pertenece perdió pintó posee produce publica queda recibe se ser será sigue sufrió
tiene tenía usa vende viene vive vivió
""")
"""Spanish, likewise; the past tense in -ó and -aron says so by its ending."""

KNOWN_NAMES = _words("""
africa african africans america american americans argentina asia asian athens australia australian australians
austria
austrian bangladesh barcelona beijing belgian belgium berlin boston brazil brazilian brazilians britain british
brussels
cairo california canada canadian canadians chicago chile china chinese colombia colombian cuba danish denmark dublin
dutch egypt egyptian england english ethiopia europe european europeans finland finnish florida france french german
germans germany ghana greece greek greeks hungarian hungary iceland india indian indians indonesia iran iranian iraq
ireland irish israel israeli istanbul italian italians italy japan japanese jerusalem kenya kenyan korea korean kyiv
lisbon london madrid malaysia mexican mexico milan morocco moscow munich nepal netherlands nigeria nigerian norway
norwegian pakistan paris peru peruvian philippines poland polish portugal portuguese prague roman romania rome russia
russian russians scotland scottish singapore soviet spain spanish sweden swedish swiss switzerland sydney taiwan texas
thai thailand tokyo toronto turkey turkish uganda ukraine ukrainian venezuela venice vienna vietnam vietnamese wales
welsh wikipedia google microsoft nasa facebook youtube twitter
alemania arabia argelia australie bélgica bolivia brasil bruselas caracas colombie cuba dinamarca ecuador egipto
escocia
españa etiopía europa filipinas finlandia francia galicia grecia guatemala honduras hungría inglaterra irán irlanda
islandia italia japón kenia lima lisboa londres marruecos méxico moscú nicaragua nigeria noruega panamá paraguay perú
polonia quito roma rumania rusia sevilla suecia suiza turquía ucrania uruguay valencia viena
cuba haïti israël lyon marseille québec genève bruxelles
""")
"""Countries, their adjectives and large cities: names at the beginning of a sentence, too (not those that mean
something else as well)."""

NAMES_LIKE_PLURALS = _words("""
adams athens brussels charles collins davies dickens edwards evans hawkins hughes jacobs james jenkins jones lagos
naples
netherlands rogers ross siemens stevens wales wells williams
""")

POSSESSIVE_NAMES = _words("""
christie's claire's denny's domino's hardee's harrod's kellogg's king's kohl's levi's lloyd's lowe's macy's mcdonald's
moody's papa_john's queen's regent's sainsbury's sotheby's st_andrew's trader_joe's wendy's women's
""")
"""Names that end in what elsewhere makes a possessive."""

HEADED_BY_POSSESSIVE = _words("""
bay beach bridge cathedral chapel church college court cross gate hall head hill hospital inn island lake lane palace
park place point quay road school square street university wood
""")
"""What forms one name with a possessive before it: St. John's College."""

INSTITUTIONS = _words("""
administration agency association authority board bureau centre center commission committee corporation council
department foundation fund institute laboratory ministry museum office organization organisation program programme
service services society
""")
"""English: what "Food and Drug" before it belongs to."""

PAIRS = frozenset(
    {
        *("trinidad and tobago", "bosnia and herzegovina", "antigua and barbuda", "saint kitts and nevis"),
        *("são tomé and príncipe", "johnson and johnson", "procter and gamble", "tom and jerry", "romeo and juliet"),
        *("newfoundland and labrador", "tyne and wear", "trinidad y tobago", "bosnia y herzegovina", "castilla y león"),
    }
)
"""Names of two parts with an "and" between them."""

GERMAN_NOUNS = _words("""
abend abende abkommen absatz abschnitt alltag alter anfang angabe angaben angebot angst anteil antrag antwort
antworten
apfel äpfel arbeit arbeiten art arten artikel arzt ärzte ärztin aufgabe aufgaben auge augen ausbau ausland autor
autorin
baby backofen bahnhof bau bauer bauern baum bäume bedarf beginn bein beine beispiel beispiele bereich berg berge
bericht
berichte beruf betrieb bett bezug biene bienen bild bilder blatt blätter blume blumen blut boden brief briefe brot
brötchen
bruder buch bücher bund bürger butter chef chefin computer datei daten dauer dichter dichterin dose druck
durchschnitt ehre
ei eier eile eltern ende energie entwickler erde erfolg ergebnis ergebnisse essen fach fall fälle familie familien
farbe
farben fehler feld fenster ferien feuer fieber figur film filme firma fisch fische flasche flaschen fleisch fluss
folge
folgen form formen forscher forscherin frage fragen frau frauen freude freund freunde frieden frist frucht früchte
frühling
frühstück funktion fuß füße garten gast gäste gebäude gebiet gedanke gefahr gefahren gefühl gegensatz gehirn geld
gemüse
gericht geschäft geschichte geschmack gesetz gesicht gewicht gewürze glas gläser glück grad gras grund gründe
gruppe gruppen
gurke haar haare hafen hälfte hand hände haus häuser haut haushalt hefe heft held herbst herr herren herz hilfe
himmel hitze
höhe holz honig hotel hund hunde hunger idee ideen insel jahr jahre jahren jahrzehnt journalist journalistin junge
jungen
kaffee kälte  karte karten kartoffel kartoffeln käse katze katzen kekse kilo kilometer kind kinder kindern kino kirche
klasse kleidung knoblauch koch komponist komponistin   konzern kopf körper kosten kraft kräfte kräuter kreis
krieg krise küche kuchen kuh kühe kunden kunst künstler künstlerin kurs land länder landschaft leben lebensmittel
leder
lehrer lehrerin leute licht liebe lied lieder linie liter literatur löffel esslöffel teelöffel luft lust mädchen maler
malerin mann männer markt maschine maß material meer mehl mehrheit menge mengen mensch menschen meter metall miete
milch
minute minuten mitarbeiter mitglied mitglieder mittag mitte mittel mitternacht mittwoch moment monat monate monaten
mond
morgen motor müll musik musiker musikerin mutter nacht nächte name namen nase natur nebel norden not nudeln nutzen
nutzer ofen öl
ohr ohren ordnung ort osten paar papier partei pause person personen pfanne pfeffer pferd pferde pflanze pflanzen
physiker
physikerin plan platz politik politiker politikerin polizei  preis preise prinzip prise probe problem probleme
produkt produkte programm prozent prozess quelle rand rat raum räume recht rede regel regeln region reihe reis
reise reisen
rest richter richterin richtung rolle roman ruhe sache sachen saft sahne salat salz sand satz schale schatten scheibe
scheiben schlaf schluss schmerz schmerzen schnee schokolade schriftsteller schriftstellerin schritt schritte schuhe
schule
schulen schüler schutz schwester see seite seiten sekunde sekunden sekt sicht sinn situation sohn sommer sonne
sorge sorgen
sorte spaß spiel spiele spieler spielerin sport sprache sprachen staat stadt städte stadion stein steine stelle
stern sterne
stoff strand straße straßen streit stress strom stück stücke student studenten studie studien stufe stunde stunden
süden
suppe system tag tage tagen tasse tassen tat technik tee teig teil teile teller temperatur termin text texte thema
themen
tier tiere tieren tipp tipps tisch tochter tod tomate tomaten ton topf tor tore traum träume trend tür typ übung
umsatz
umwelt unfall unternehmen unterschied ursache urlaub vater verein verfahren vergleich verkehr version vertrag vieh
viertel
vogel vögel volk vorsicht vorteil vorteile wagen wahl wahrheit wald wälder wand wärme wasser weg wege wein weise
welt werk
werke wert westen wetter wind winter wirkung wissen wissenschaftler wissenschaftlerin woche wochen wohl wort worte
wörter
wunsch wünsche würfel wurzel wut zahl zahlen zahn zähne zeichen zeit zeiten zeitung ziel ziele zimmer zitrone
zucker zug
züge zukunft zustand zweck zweifel zwiebel zwiebeln hause angestellte anwalt anwältin architekt architektin astronom
astronomin biologe biologin chemiker chemikerin dirigent dirigentin drittel erfinder erfinderin filmemacher fotograf
fotografin geiger geigerin historiker historikerin ingenieur ingenieurin mathematiker mathematikerin philosoph
philosophin
pianist pianistin regisseur regisseurin sänger sängerin schauspieler schauspielerin soziologe soziologin sprecher
sprecherin
trainer trainerin unternehmer unternehmerin bildhauer bildhauerin bäcker bauherr  gründer gründerin leiter leiterin
nobelpreisträger nobelpreisträgerin sportler sportlerin stürmer torwart landwirt landwirtin psychologe psychologin
gemeinde
dorf bezirk provinz becher bund eimer kanne kugel schluck schüssel packung tafel tüte glas million millionen milliarde
milliarden gemälde sinfonie oper drama stück zeile
""")
"""Ordinary German nouns, which are capitalised as names are."""

GERMAN_NOUN_ENDINGS = (
    *(
        "ung",
        "ungen",
        "heit",
        "heiten",
        "keit",
        "keiten",
        "schaften",
        "tion",
        "tionen",
        "tät",
        "täten",
        "ismus",
        "nisse",
    ),
    *("nissen", "erin", "erinnen", "istin", "ologe", "ologin", "forscher", "steller", "spieler", "meister", "macher"),
)

GERMAN_OFFICES = ("kanzlerin", "präsidentin", "ministerin", "königin", "kaiserin", "bürgermeister", "bürgermeisterin")
"""They belong to the name."""

GERMAN_ADJECTIVES = _words("""
alt arm bekannt best blau blind breit bunt dick dicht dumm dunkl dünn echt edl eigen einfach einzeln eng erst
falsch faul
fein fest fett feucht flach frei fremd frisch froh früh ganz gelb gerad gering gesund glatt gleich groß größer grün
gut hart
heiß hell hoh höher international jung jünger kalt kaputt klar klein kleiner klug knapp knusprig komplett krank
kühl kurz
kürzer lang länger langsam laut lecker leer leicht leis letzt lieb link locker mager mild modern müd nah nass
nächst neu neuer
nett offen rauh recht reif rein rot ruhig rund satt sauber sauer scharf schlank schlecht schnell schön schwach
schwarz schwer
sicher solch spät stark steil still stolz streng süß täglich teuer tief tiefer toll tot trock trocken trüb viel
vielen voll
wahr warm weich weiß weit weiter weniger wichtig wild wirklich zart zäh älter ältest beliebt bestimmt verschieden
gemahlen
gehackt gekocht gebraten geröstet getrocknet
""")
"""Stems; with an ending of theirs they open a sentence with a capital and are no name."""

GERMAN_WATERS = _words("""
Ammersee Bodensee Donau Elbe Harz Havel Ilm Inn Isar Lech Main Mosel Neckar Oder Rhein Ruhr Saale See Spree
Starnberger
Weser Wörthersee
""")
"""What towns are named by: Frankfurt am Main."""

GERMAN_EPITHETS = _words("""
große grosse kühne weise fromme erste zweite dritte vierte heilige starke schöne jüngere ältere kahle eiserne gute
""")

ORDINARY_NOUNS = _words("""
acid advice air alcohol anger anxiety anybody bacteria beauty beef blood cash cheese chicken chocolate climate
clothing
cotton crime data death democracy depression diet dirt dust earth electricity employment entry everyday evil exercise
fabric faith fame fashion fat fear fiber fish food fruit fuel fun furniture gas gasoline god grass hair hair health
honey
honor hope hunger ice inequality information insulin interest jazz joy junk justice knowledge labor labour land
laughter leather
legend legislation literature loneliness luck lumber marriage mass meat memory metal methane migration mud news noise
nutrition one optimism paint pain parking pasta patience petrol philosophy plenty poetry pollution poverty pressure
progress protein public radiation religion rice rubber rust safety sand sex shade shame skin smoke soap society
software
soil solitude soup space speed spring stress success summer sunlight sunshine support sweat technology television
temperature theory timber tobacco toast tourism transport travel trust truth unemployment violence vision vitamin
vodka
warmth waste wealth wheat whoever wine winter wisdom wool worry yoga youth
anyone anything art attendance biology bread breakfast butter carbon chemistry coffee construction dad demand
dinner education energy everybody everyone everything evidence filming flour food glass gold growth half heat
history hydrogen income inflation iron language law life light love lunch mathematics medicine milk mom money
music nature nitrogen nobody nothing oil oxygen paper part peace physics plastic power production profit rain
research revenue salt science silver sleep snow somebody someone something steel sugar supply tea time trade
traffic training turnout voting war water weather wood work yeast
""")

COUNTERS = (
    "人名个個只隻本回章年月日岁歳次条條座家台辆輛張张页頁米公里克斤公斤吨升度分秒点點"
    "时時万億亿元块层楼级位件种種篇首部集场場届屆倍枚冊匹頭杯軒円つ卷巻册款支枝根颗粒滴对對双雙副套样樣口羽尾株棵束"
    "堆组組排列行队班批代期号號版遍趟声步栋棟幢间間所院处處县市省州国國门門科轮輪盘局节節课幕季段句字词筆笔画道题題项"
    "項碗瓶罐盒箱包袋桶壶壺把封份户戶艘架脚面块塊具则則例起阶階曲話番着歩折票球胜余多勝负敗戦戰试試"
)
"""What follows a Chinese numeral that counts something."""

LONG_COUNTERS = (
    "か所",
    "ヶ所",
    "カ所",
    "ヵ所",
    "箇所",
    "か国",
    "ヶ国",
    "カ国",
    "ヵ国",
    "か条",
    "種類",
    "学期",
    "车道",
    "周年",
)

NO_COUNT_NEXT: Mapping[str, str] = {"人": "称稱三", "本": "来木", "国": "志演时時", "轮": "车", "字": "架", "面": "镜"}
"""What undoes a counter that stands before it: 三人称."""

NOT_NUMERALS = _words("""
万一 千万别 千万不 千万要 十分 十足 百分百 三国 三國 四国 四季 三轮 三輪 六本木 九州
三重県 三重県 千葉 八王子 二胡 十字 百科 百姓 百货 百貨 千禧 三角 四川 三亚 三明治 三文鱼
五金 九寨 八达岭 七夕 五官 四方 五彩 八卦 九龙 二手 二维码 二次元 四合院 五星 三峡 二酸化
一酸化 五輪 二人三脚 三日月 四六時中 八百屋 万年筆 百円ショップ 三脚 七五三 十人十色 二枚目
三枚目 十八番 四面八方 五花八门 三心二意 七上八下 一石二鸟 千方百计 三三两两 五颜六色 乱七八糟
不三不四 丢三落四 四分五裂 九牛一毛 十全十美 百花 百万富翁 第一次世界大战 第二次世界大战
第一次世界大戦 第二次世界大戦 第二天 第三者 第三世界 两者 两旁 两侧 两岸 两边 两面 八方
七転び八起き 一日三秋 二日酔い 三日坊主 五十音 五十嵐 九十九里 千代田 三鷹 三井 三菱 四日市
二条城 三条 四条 五条 八幡 八重 十六夜 千羽鶴 万里の長城 万里长城 三寒四温 二十四节气
二十四節気 三省堂 四谷 二子玉川 五反田 八丁堀 千島 千歳 三宅 三浦 三島 三木 二宮 五島 六甲
七味 八宝 八角 九官鳥
""")
"""Words and names with numerals in them that count nothing."""

NO_UNIT_BEFORE: Mapping[str, frozenset[str]] = {
    unit: frozenset(after)
    for unit, after in {
        "年": "级級生目度代版式次轮",
        "日": "目本元語语",
        "分": "の割類类析野岐布裂解担散配別别離离厘子之数",
        "度": "目数數合々假",
        "周": "年岁歳围边期刊末知",
        "週": "年刊末目",
        "成": "立为為功长長员員果分年人本绩績都語语品熟就份交型形",
        "割": "り合れら愛",
        "元": "素件年の旦首気气々来宵老祖",
        "米": "饭国軍兵粉線线其兰奇色粒国",
        "時間": "目割帯外",
        "秒": "速杀针針",
        "円": "形柱周卓",
        "ポイント": "カード",
        "里": "程面",
        "克": "拉服",
        "升": "级學学降",
    }.items()
}
"""What follows a word that is no unit then: 3年生 counts no years."""

TENTHS = _words("割 成")
"""3割 and 三成 are 30 %."""

DAY_PARTS: Mapping[str, str] = _table("""
am: 上午 早上 早晨 清晨 凌晨 午前 朝 未明 早朝 明け方 清早
pm: 下午 傍晚 午後 午后 夕方 黄昏
night: 晚上 夜里 夜裡 夜间 半夜 深夜 午夜 夜 今夜 晚间 夜間
noon: 中午 昼 正午 お昼
""")
"""Parts of the day before an hour, and what they make of it."""

ERAS: Mapping[str, int] = _numbers("""
1868: 明治
1912: 大正 民国 民國
1926: 昭和
1989: 平成
2019: 令和
1865: 慶応
1854: 安政
1830: 天保
1818: 文政
1804: 文化
1716: 享保
1688: 元禄
1624: 寛永
1596: 慶長
1662: 康熙
1723: 雍正
1736: 乾隆
1796: 嘉庆 嘉慶
1821: 道光
1851: 咸丰 咸豐
1862: 同治
1875: 光绪 光緒
1909: 宣统 宣統
1368: 洪武
1403: 永乐 永樂
1573: 万历 萬曆
1628: 崇祯 崇禎
1522: 嘉靖
627: 贞观 貞觀
713: 开元 開元
742: 天宝 天寶
""")
"""The first years of eras, by the Gregorian calendar."""

OWN_UNITS: Mapping[str, Mapping[str, str]] = {
    "ja": _table("""
min: 分
day: 日
year: 年
°c: 度
pp: ポイント
gbp: ポンド
km: キロ
month: 月
"""),
    "zh": _table("""
year: 年
day: 日
°c: 度 摄氏度 攝氏度
cny: ¥ ￥
lb: 磅
jin: 斤 市斤
mu: 亩 畝
li: 里 华里
h: 个小时 個小時 小時 钟头 个钟头
week: 个星期 星期 個星期 礼拜 个礼拜
"""),
}
"""Units that are words of other kinds in other languages."""

NO_LATIN_NAMES = _words("ok vs etc no tel fax km cm mm kg mg ml app pm am x y ppt pdf wifi cd dvd tv")
"""Latin letters in other scripts that name nothing."""

HINDI_DAY_PARTS: Mapping[str, str] = _table("""
am: सुबह तड़के भोर सवेरे प्रातः
pm: शाम सायं
night: रात
noon: दोपहर
""")

HINDI_ORDINALS: Mapping[str, int] = _numbers("""
1: पहली पहला पहले
2: दूसरी दूसरा दूसरे
3: तीसरी तीसरा तीसरे
4: चौथी चौथा चौथे
6: छठी छठा छठे छठवीं छठवाँ छठवां
""")
"""Those that do not end in वाँ."""

ARABIC_DAY_PARTS: Mapping[str, str] = _table("""
am: صباحًا صباحا صباحاً ص فجرًا فجرا فجراً
pm: مساءً مساء م عصرًا عصرا عصراً بعد_الظهر
night: ليلًا ليلا ليلاً
noon: ظهرًا ظهرا ظهراً
""")

ARABIC_ORDINALS: Mapping[str, int] = _numbers("""
1: الأول الأولى الاول الحادي الحادية الواحدة
2: الثاني الثانية
3: الثالث الثالثة
4: الرابع الرابعة
5: الخامس الخامسة
6: السادس السادسة
7: السابع السابعة
8: الثامن الثامنة
9: التاسع التاسعة
10: العاشر العاشرة
20: العشرون العشرين
30: الثلاثون الثلاثين
""")

ARABIC_DECADES: Mapping[str, int] = _numbers("""
20: عشرينيات عشرينات العشرينيات العشرينات
30: ثلاثينيات ثلاثينات الثلاثينيات الثلاثينات
40: أربعينيات أربعينات الأربعينيات الأربعينات
50: خمسينيات خمسينات الخمسينيات الخمسينات
60: ستينيات ستينات الستينيات الستينات
70: سبعينيات سبعينات السبعينيات السبعينات
80: ثمانينيات ثمانينات الثمانينيات الثمانينات
90: تسعينيات تسعينات التسعينيات التسعينات
""")

HIJRI_MONTHS: Mapping[str, int] = _numbers("""
1: محرم المحرم
2: صفر
3: ربيع_الأول
4: ربيع_الآخر ربيع_الثاني
5: جمادى_الأولى
6: جمادى_الآخرة جمادى_الثانية
7: رجب
8: شعبان
9: رمضان
10: شوال
11: ذو_القعدة ذي_القعدة
12: ذو_الحجة ذي_الحجة
""")

ARABIC_FRACTIONS: Mapping[str, int] = _numbers("""
23: ثلثي ثلثا ثلثان ثلثين الثلثين
34: ثلاثة_أرباع
45: أربعة_أخماس
35: ثلاثة_أخماس
25: خمسي خمسا
""")
"""34 stands for three quarters."""

HINDI_HALVES: Mapping[str, int] = _numbers("""
2: साढ़े
1: सवा
-1: पौने
""")
"""Quarters that these add to the number behind them."""

HINDI_PARTS: Mapping[str, int] = _numbers("""
3: तिहाई
4: चौथाई
5: पंचमांश
""")
"""The parts that fractions are made of."""

YEAR_BEFORE = _words(
    "عامي سنتي عامَي أعوام عام سنة العام السنة لعام وعام في منذ حتى بين قبل بعد و إلى सन सन् वर्ष साल ईस्वी"
)
"""Arabic and Hindi: before a figure of four digits these make it a year."""

YEAR_AFTER = _words("में का की के से तक को ई ईस्वी वाला वाली वाले और")
"""Hindi: so do these behind it."""
