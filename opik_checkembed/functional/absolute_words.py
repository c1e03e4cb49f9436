"""Words that claim more than most sources say: absolutes, superlatives, causes and certainties, in four languages.

Data only. Phrases are regular expressions over folded text (lower case, no accents, German umlauts as their bare
vowels); a space stands for any white space. English, German, French and Spanish are covered, no other language.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Strength = Literal["absolute", "superlative", "causal", "certainty"]
"""What a word claims: no exception, the highest degree, a cause, or that it is certain."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


@dataclass(frozen=True)
class Family:
    """Forms and synonyms of one strong word.

    Attributes:
        kind: What it claims.
        words: Phrases that claim it, divided by ` | `; each of them in a source says it, too.
        also: Phrases that say it in a source, but are too ordinary to be listed in a claim.
        negative: Whether it denies by itself, as "never" does, so that a negation beside it is no denial of it.
    """

    kind: Strength
    words: str
    also: str = ""
    negative: bool = False


@dataclass(frozen=True)
class StrongWords:
    """The words of one language.

    Attributes:
        families: The families.
        neutral: Phrases that hold such a word and claim nothing, as "at all".
        denials: Words that deny.
        hedges: Words that leave open.
        borders: Words that begin a new clause.
        stop: Words that say nothing of what a sentence is about; only those of four letters or more matter.
    """

    families: tuple[Family, ...]
    neutral: str
    denials: str
    hedges: str
    borders: str
    stop: frozenset[str]


# What a cause is said to move: "drove growth" is one, "drove to the station" is none.
_CHANGE = (
    "(?: (?!(?:to|in|into|from|at|on|off|out|through|past|with|home)\\b)[\\w'-]+){0,3} "
    "(?:growth|increases?|rise|gains?|declines?|drop|losses|demand|sales|revenues?|profits?|earnings|prices?|costs?|"
    "inflation|adoption|change)"
)
_CAUSED = (
    "caus(?:e|es|ed|ing|al) | because | due to | owing to | thanks to | as a result | "
    "result(?:s|ed|ing)? (?:in|from) | (?:led|leads?|leading)(?: [\\w'-]+){0,3} to | brought about | brings? about | "
    "trigger(?:s|ed|ing)? | driven by | sparked | sparking | prompted | provoked | induced | the(?: \\w+)? reason | "
    "attributable | (?:is|are|was|were|be|been|being)(?: (?!not|never)\\w+)? responsible for | "
    # At the beginning of a sentence they draw the conclusion of a text, and say no cause.
    "(?<=[\\w,;]\\s)(?:therefore|thus|hence|consequently) | as a consequence | (?:that|this|which)(?: is|'s) why | "
    "stem(?:s|med|ming) from | (?:gave|gives?|given|giving) rise to | spurred | spurring | precipitated | "
    f"(?:dr(?:ives?|ove|iving)|fuell?(?:ed|ing)|propel(?:s|led|ling)){_CHANGE}"
)
_FORCED = (
    "(?:forced|forcing|compels?|compelled|obliges?|obliged)"
    "(?: (?!entry|labou?r|landing|march|marriage|return)[\\w'-]+){0,4} to | "
    "forces (?:the|an?|its|his|her|their|it|him|them|us|people)(?: [\\w'-]+){0,3} to | necessitat(?:es|ed|ing)"
)

_ENGLISH = StrongWords(
    families=(
        Family("absolute", "only | sole | solely | exclusively | no other", "alone | exclusive | single | nothing but"),
        Family("absolute", "first | first-ever | very first", "1st | earliest | debut | never before | no earlier"),
        Family("absolute", "always | invariably | at all times | without exception | perpetually | every time"),
        Family("absolute", "never | at no time | not once | under no circumstances", "no | nor | not | cannot", True),
        Family(
            "absolute",
            "impossible | impossibility | cannot possibly",
            "cannot | can't | could not | couldn't | unable | not possible | no way",
            True,
        ),
        Family(
            "absolute",
            "completely | entirely | totally | wholly | utterly | absolutely | fully",
            "complete | entire | total | whole | full | all | 100% | 100 %",
        ),
        Family(
            "absolute",
            "all | every | everyone | everybody | everything | everywhere | entire | whole | throughout",
            "each | any | both | complete | total | 100% | 100 %",
        ),
        Family("absolute", "none | no one | nobody | nothing | nowhere", "no | not | neither | without | zero", True),
        Family(
            "absolute",
            "unprecedented | never before | never-before-seen | first of its kind | groundbreaking | revolutionary",
            "first | record",
            True,
        ),
        Family(
            "absolute",
            "unique | uniquely | unparalleled | unrivall?ed | unmatched | one of a kind | second to none",
            "only | sole",
        ),
        Family("superlative", "largest | biggest | greatest", "record"),
        Family("superlative", "smallest | tiniest"),
        Family("superlative", "highest", "top | record | peak | maximum | most"),
        Family("superlative", "lowest | fewest", "minimum | least | record"),
        Family("superlative", "best | finest", "top | leading"),
        Family("superlative", "worst"),
        Family("superlative", "oldest | earliest", "first"),
        Family("superlative", "youngest | newest", "latest"),
        Family("superlative", "fastest | quickest", "record"),
        Family("superlative", "strongest | weakest | slowest | longest | shortest | richest | poorest | deadliest"),
        Family("superlative", "the most [a-z]+(?<!recent)(?<!of)(?<!part)", "most [a-z]+"),
        Family(
            "superlative",
            "ever | of all time | in history | in the world | anywhere",
            "never | world | history | global | globally | record",
        ),
        Family(
            "causal",
            _CAUSED,
            f"{_FORCED} | attribut(?:e|es|ed|ing) | reasons? | why | blam(?:e|es|ed|ing) | responsible | "
            "contribut(?:e|es|ed|ing) | explain(?:s|ed|ing)? | com(?:e|es|ing) from | came from | stem from | "
            "so that | (?<=,\\s)so | therefore | thus | hence | consequently | dr(?:ive|ives|ove|iven) | fuell?ed | "
            "forc(?:e|es|ed|ing) | mak(?:e|es|ing) | made",
        ),
        Family(
            "causal",
            _FORCED,
            f"{_CAUSED} | forc(?:e|es|ed|ing) | compel | oblige | had to | has to | have to | must | "
            "requir(?:e|es|ed) | need(?:s|ed)? | order(?:s|ed)? | mak(?:e|es|ing) | made",
        ),
        Family(
            "causal",
            "enabl(?:e|es|ed|ing) | pav(?:es|ed|ing) the way (?:for|to) | "
            # "Made the best possible offer" and "made as much as possible" make nothing possible.
            "(?:made|makes?|making)(?: (?!(?:as|every|all|any|if|an?|no|not|nothing|where\\w*|when\\w*) )[\\w'-]+|"
            "(?: an?)(?! possible)){0,5} (?<!est\\s)possible",
            "allow(?:s|ed|ing)? | permit(?:s|ted|ting)? | lets? | able | possible | help(?:s|ed|ing)? | thanks to",
        ),
        Family(
            "causal",
            "prevent(?:s|ed|ing)? | avert(?:s|ed|ing)? | "
            "(?:keeps?|kept|keeping|stops|stopped|stopping)(?: [\\w'-]+){1,3} from \\w+ing",
            "stop(?:s|ped|ping)? | avoid(?:s|ed|ing)? | block(?:s|ed|ing)? | protect(?:s|ed|ing)? | cannot | kept",
        ),
        Family(
            "certainty",
            "prov(?:e|es|ed|en|ing) | proof | conclusive(?:ly)? | irrefutabl[ey] | definitive(?:ly)?",
            "establish(?:es|ed)? | demonstrat(?:e|es|ed|ion) | confirm(?:s|ed)?",
        ),
        Family(
            "certainty",
            # One demonstrates against a law, too, or a new telephone.
            "demonstrates | demonstrat(?:e|ed|ing)(?: \\w+)? that | confirms | confirm(?:ed|ing)(?: \\w+)? that",
            "demonstrat(?:e|ed|ing|ion) | confirm(?:ed|ing|ation)? | show(?:s|ed|n|ing)? | prov(?:e|es|ed|en|ing) | "
            "proof | establish(?:es|ed|ing)? | verif(?:y|ies|ied) | validat(?:es|ed) | corroborat(?:es|ed) | "
            "evidence | found | finds?",
        ),
        Family(
            "certainty",
            "guarantee(?:s|d|ing)? | ensures | ensured | certainly | certain that | "
            "(?:makes?|made|is|was) it certain | it (?:is|was) certain | (?:is|are|was|were) (?:certain|bound) to | "
            "undoubtedly | definitely | without(?: a)? doubt | beyond(?: \\w+)? doubt | there (?:is|was) no doubt | "
            "undeniabl[ey] | inevitabl[ey] | unquestionably | indisputabl[ey]",
            "sure | certain | certainty | ensure | ensuring | assur(?:e|es|ed) | promis(?:e|es|ed) | bound to",
        ),
    ),
    neutral="at all(?! times) | after all | above all | first of all | at first | first name | all right | all of a "
    "sudden | all but | only if | if only | if ever | ever since | hardly ever | at best | at worst | best friends? | "
    "best known | every (?:\\d+|other|day|week|month|year|hour) | all day | "
    "first (?:quarter|half|year|month|week|day)s? | first (?:and|or) | prov(?:e|es|ed|en|ing) to be | as a whole | "
    "thus far | (?:many|special) thanks to | thanks to (?:all|every\\w+|you)",
    denials="not | no | never | nor | neither | none | without | cannot | \\w+n't | hardly | nobody | nothing | "
    "denied | denies | rejected",
    hedges="may | might | could | possibly | perhaps | probably | likely | likeliest | unlikely | appear(?:s|ed)? | "
    "seem(?:s|ed)? | suggest(?:s|ed|ing)? | suspect(?:s|ed)? | whether | unclear | unknown | undetermined | "
    "potential(?:ly)? | presumably | allegedly | under investigation | left open | reportedly | arguably | "
    "(?<!only.)one of | "
    "(?:not|never|cannot|n't)(?: yet)?(?: been)? (?:know|determin|establish|show|prove|confirm|say|tell|clear)\\w*",
    borders="and | but | while | although | though | whereas",
    stop=_words(
        """
        about above according after again against also among another around away back been before being below
        between both came come could does doing done down during each either even ever every from further gave
        gets give given goes going gone have having here himself however into itself just like made make makes
        making many might more most much must near never none only other others over said same says shall should
        since some such take taken takes than that their them themselves then there these they this those
        through thus told took toward under until upon very want well went were what when where whether which
        while will with within without would year years your
        """
    ),
)

_GERMAN = StrongWords(
    families=(
        Family("absolute", "nur | einzig(?:e|er|es|en|em)? | ausschließlich | lediglich", "allein(?:e|ig\\w*)?"),
        Family("absolute", "erst(?:e|er|es|en|em|mals|malig\\w*)", "fruhest\\w+"),
        Family("absolute", "immer | stets | jederzeit | ausnahmslos | standig"),
        Family("absolute", "nie | niemals | keinesfalls | nie zuvor", "kein\\w* | nicht", True),
        Family("absolute", "unmoglich\\w*", "nicht moglich | kann nicht | konnte nicht | konnen nicht", True),
        Family(
            "absolute",
            "vollig | vollstandig\\w* | ganzlich | komplett\\w* | absolut\\w* | restlos",
            "ganz\\w* | voll\\w* | alle\\w*",
        ),
        Family(
            "absolute", "alle[nrsm]? | jede[nrsm]? | samtliche[nrsm]? | uberall", "beide\\w* | ganz\\w* | gesamt\\w*"
        ),
        Family("absolute", "niemand\\w* | nichts | nirgends | nirgendwo | keinerlei", "kein\\w* | nicht | ohne", True),
        Family(
            "absolute", "beispiellos\\w* | einmalig\\w* | bahnbrechend\\w* | revolutionar\\w*", "erst\\w+ | rekord\\w*"
        ),
        Family("absolute", "einzigartig\\w*", "einzig\\w*"),
        Family("superlative", "großt\\w+ | kleinst\\w+ | beste[nrsm]? | schlechtest\\w+ | schlimmst\\w+"),
        Family(
            "superlative", "hochst(?!ens)\\w+ | niedrigst\\w+ | altest\\w+ | jungst\\w+ | schnellst\\w+ | starkst\\w+"
        ),
        Family("superlative", "aller zeiten | der welt | weltweit | jemals", "welt | geschichte | rekord\\w*"),
        Family(
            "causal",
            "verursach\\w+ | weil | wegen | aufgrund | auf grund | infolge | dank | "
            "fuhr(?:t|te|en|ten) (?:\\w+ ){0,4}zu[rm]? | ausgelost\\w* | loste | bewirk\\w+ | ursache | grund fur | "
            "deshalb | deswegen | daher | folglich | infolgedessen | demzufolge | zuruckzufuhren | "
            "hervorgerufen\\w* | zur folge | sorg(?:t|te|ten) (?:\\w+ ){0,3}dafur,? dass | "
            "verantwortlich (?:fur|war|waren|ist|sind) | "
            "(?:ist|sind|war|waren) (?:(?!nicht|kein|nie)\\w+ )?fur (?:\\w+ ){1,4}verantwortlich | "
            "(?:trieb|trieben|treibt|treiben) (?:\\w+ ){0,3}"
            "(?:wachstum|umsatz\\w*|gewinn\\w*|nachfrage|preise?|kosten)",
            "ursach\\w+ | grund\\w* | darum | da | denn | folge\\w* | somit | also | zwang\\w* | erklar\\w+ | "
            "sorg\\w+ | verantwortlich | beigetragen | schuld | trieb\\w* | treib\\w+",
        ),
        Family(
            "causal",
            "(?:zwang|zwangen|zwingt|zwingen) (?:[\\w-]+,? ){1,5}zu\\w* | gezwungen",
            "zwang\\w* | zwing\\w+ | musste\\w* | muss | mussen | verursach\\w+ | weil | wegen | aufgrund | deshalb | "
            "daher | fuhr(?:t|te|en|ten)",
        ),
        Family(
            "causal",
            "ermoglich\\w+ | mach(?:t|te|ten) (?:[\\w-]+ ){1,5}(?<!wie\\s)moglich",
            "erlaub\\w+ | moglich | konnen | half | helfen | dank",
        ),
        Family("causal", "verhinder\\w+", "vermeid\\w+ | vermied\\w* | gestoppt | schutz\\w+ | nicht"),
        Family(
            "certainty",
            "beweis\\w* | bewies\\w* | bewiesen\\w* | endgultig\\w*",
            "beleg\\w* | bestatig\\w+ | nachgewiesen",
        ),
        Family(
            "certainty",
            "(?:demonstrier|bestatig|beleg)(?:t|te|en|ten),? dass",
            "demonstrier\\w+ | bestatig\\w+ | beleg\\w* | beweis\\w* | bewies\\w* | bewiesen | nachgewiesen | "
            "zeig\\w+ | gezeigt",
        ),
        Family(
            "certainty",
            "garantier\\w+ | garantie | gewahrleist\\w+ | sichergestellt | "
            "stell(?:t|te|ten) (?:[\\w-]+ ){0,5}sicher | mit sicherheit | zweifellos | zweifelsfrei | definitiv | "
            "unbestreitbar\\w* | zwangslaufig\\w* | unvermeidlich\\w*",
            "sicher\\w* | gewiss | versprech\\w+ | versprochen",
        ),
    ),
    neutral="immer noch | immer wieder | vor allem | nicht nur | alles in allem | nach wie vor | immer mehr | jeder "
    "zweite | jeden? (?:tag|monat|jahr) | jede woche | erste[nrsm]? (?:quartal|halbjahr|jahr|monat|woche|tag)\\w*",
    denials="nicht | kein\\w* | nie | niemals | ohne | weder | noch nicht | kaum",
    hedges="konnte\\w* | mag | mochte | moglicherweise | vielleicht | wohl | wahrscheinlich | vermutlich | "
    "scheint | scheinen | ob | unklar | unbekannt | offenbar | mutmaßlich\\w* | angeblich | soll | sollen | "
    "eine[rs]? der",
    borders="und | aber | doch | sondern | wahrend | obwohl",
    stop=_words(
        """
        aber alle allem allen aller alles also auch beim bereits dann dass deren dessen diese diesem diesen
        dieser dieses doch dort durch eine einem einen einer eines etwa fast fur gegen haben habe hatte hatten
        hier ihre ihrem ihren ihrer immer jede jeder kann kein keine konnen mehr mussen nach nicht noch oder
        ohne sehr sein seine seinem seinen seiner seit sich sind sowie uber unter viele vom waren weil wenn
        werden wird wieder wurde wurden zwar zwischen
        """
    ),
)

_FRENCH = StrongWords(
    families=(
        Family(
            "absolute",
            "seuls? | seules? | seulement | uniquement | exclusivement | ne (?:\\w+ ){1,3}que",
            "unique\\w* | exclusif\\w*",
        ),
        Family("absolute", "premiers? | premieres?", "1er | 1re | jamais auparavant"),
        Family("absolute", "toujours | invariablement | en permanence | sans exception"),
        Family("absolute", "jamais | en aucun cas", "ne | n'\\w+ | pas | aucun\\w*", True),
        Family("absolute", "impossibles? | impossibilite", "ne peut | ne peuvent | ne pouvait | pas possible", True),
        Family(
            "absolute",
            "completement | entierement | totalement | absolument | pleinement | integralement",
            "complet\\w* | entier\\w* | total\\w* | tout\\w* | plein\\w*",
        ),
        Family(
            "absolute",
            "tous | toutes | chaque | chacune? | partout | tout le monde",
            "tout\\w* | entier\\w* | les deux",
        ),
        Family("absolute", "aucune? | personne ne | rien | nulle part", "ne | n'\\w+ | pas | sans | zero", True),
        Family("absolute", "sans precedent | inedite?s? | revolutionnaires?", "premier\\w* | record"),
        Family("absolute", "uniques? (?:au|en son) \\w+ | inegalee?s? | incomparables?", "seul\\w* | unique\\w*"),
        Family(
            "superlative",
            "(?:le|la|les) (?:plus|moins) \\w+ | (?:le|la|les) meilleure?s? | (?:le|la|les) pires?",
            "record",
        ),
        Family(
            "superlative", "de tous les temps | au monde | de l'histoire", "monde | mondial\\w* | histoire | jamais"
        ),
        Family(
            "causal",
            "caus(?:e|es|er|ee|ees|ent|ait|ant)(?! de mariage) | parce qu(?:e|'\\w+) | a cause de | en raison de | "
            "grace a(?:ux?)? | entrain\\w+ | provoqu\\w+ | conduit a | mene a | declench\\w+ | du fait de | "
            "raison pour | (?<=[\\w,;]\\s)(?:donc|par consequent|en consequence) | c'est pourquoi | "
            "puisqu(?:e|'\\w+) | engendr\\w+ | occasionn\\w+ | result(?:e|ent|ait|aient) d(?:e|es|u|'\\w+) | "
            "fai(?:t|sait|saient) en sorte qu(?:e|'\\w+) | "
            "(?:est|sont|etait|etaient|fut|furent) (?:(?!pas|plus|jamais)\\w+ )?responsables? d(?:e|es|u|'\\w+) | "
            "(?:est|sont|etait|etaient) (?:(?!pas|plus|jamais)\\w+ )?due?s? a(?:ux?)? | "
            "stimul(?:e|ent|ait|aient|ant|ee?s?) (?:\\w+ ){0,3}(?:croissance|demande|ventes|prix)",
            "raisons? | car | ainsi | donc | par consequent | en consequence | attribu\\w+ | expliqu\\w+ | "
            "responsables? | contribu\\w+ | contrai\\w+ | resultat\\w* | stimul\\w+ | du a | due a",
        ),
        Family(
            "causal",
            "contrai(?:nt|nts|nte|ntes|gnit|gnent|gnait) (?:[\\w'-]+ ){0,4}a | "
            "oblig(?:e|es|ee|ees|ent|ait|ea) (?:[\\w'-]+ ){0,4}a | "
            "(?:a|ont|avait|avaient|est|sont|ete) force(?:e|s|es)?(?! de) (?:[\\w'-]+ ){0,4}a",
            "contrai\\w+ | oblig\\w+ | forc\\w+ | doi(?:t|vent) | devait | devaient | du | a cause de | "
            "en raison de | parce",
        ),
        Family(
            "causal",
            "permis? de | permet(?:tent)? de | ren(?:d|dent|dait|dre|du|due|dus|dues) (?:[\\w'-]+ ){0,5}possibles?",
            "permet\\w* | permis\\w* | possible | grace a",
        ),
        Family("causal", "empech\\w+", "evit\\w+ | bloqu\\w+ | proteg\\w+ | arret\\w+"),
        Family("certainty", "prouv\\w+ | preuves? | demontr\\w+ | definitivement", "etabli\\w* | confirm\\w+"),
        Family(
            "certainty",
            "confirm(?:e|ent|ait|aient|ant|ee?s?) qu(?:e|'\\w+)",
            "confirm\\w+ | prouv\\w+ | demontr\\w+ | etabli\\w* | montr\\w+ | verifi\\w+",
        ),
        Family(
            "certainty",
            "garanti\\w* | certainement | sans (?:aucun )?doute | indeniable\\w* | inevitable\\w* | "
            "incontestable\\w* | assurement",
            "certain\\w* | sur | sure | promi\\w+ | assur\\w+",
        ),
    ),
    neutral="tous les (?:jours|mois|ans|deux) | toutes les (?:semaines|heures) | pas toujours | tout d'abord | "
    "premiers? (?:trimestre|semestre|ministre)s? | premiere? (?:annee|semaine)",
    denials="ne | n'\\w+ | pas | jamais | sans | ni | aucune?",
    hedges="peut | peuvent | pourrait | pourraient | peut-etre | probablement | sans doute | possiblement | semble | "
    "semblent | suggere\\w* | inconnue?s? | incertaine?s? | vraisemblablement | (?:l'un|l'une|une?) des",
    borders="et | mais | tandis | alors que | bien que",
    stop=_words(
        """
        ainsi alors apres aussi autre autres avant avec avoir avait avaient bien cela celle celui ceux cette
        comme contre dans deja depuis deux donc elle elles encore entre etait etaient etre fait font jusque leur
        leurs lors mais meme moins nous par parce pendant plus pour quand quel quelle quelques sans selon sera
        sont sous tous tout toute toutes tres vers vous
        """
    ),
)

_SPANISH = StrongWords(
    families=(
        Family("absolute", "solo | solamente | unicamente | exclusivamente | unic[oa]s?", "exclusiv\\w+"),
        Family("absolute", "primer(?:o|a|os|as)? | por primera vez", "1[.ºª]"),
        Family("absolute", "siempre | invariablemente | en todo momento | sin excepcion"),
        Family("absolute", "nunca | jamas | en ningun caso", "no | ningun\\w*", True),
        Family("absolute", "imposibles? | imposibilidad", "no puede | no pueden | no pudo | no es posible", True),
        Family(
            "absolute",
            "completamente | totalmente | enteramente | absolutamente | plenamente | por completo",
            "complet\\w+ | total\\w* | enter\\w+ | tod\\w+ | plen\\w+",
        ),
        Family("absolute", "todos | todas | cada un[oa] | todo el mundo", "tod[oa] | amb[oa]s | enter\\w+ | cada"),
        Family("absolute", "ningun[oa]? | nadie | nada", "no | sin | cero", True),
        Family("absolute", "sin precedentes | inedit[oa]s? | revolucionari[oa]s?", "primer\\w* | record"),
        Family("absolute", "inigualables? | incomparables? | sin igual | irrepetibles?", "unic\\w+"),
        Family(
            "superlative", "(?:el|la|los|las) (?:\\w+ )?(?:mas|menos) \\w+ | mejor | mejores | peor | peores", "record"
        ),
        Family("superlative", "mayor(?:es)? | menor(?:es)? | maxim[oa]s? | minim[oa]s?", "record | mas | menos"),
        Family("superlative", "de todos los tiempos | del mundo | de la historia", "mundo | mundial\\w* | historia"),
        Family(
            "causal",
            "caus(?:a|o|aron|ado|ada|ando|ar|an|aba) | porque | debido a | a causa de | gracias a | provoc\\w+ | "
            "llev(?:o|a|aron) (?:\\w+ ){0,3}a | condujo a | desencaden\\w+ | como resultado | la razon | "
            "(?<=[\\w,;]\\s)(?:por (?:lo )?tanto|por consiguiente|en consecuencia) | como consecuencia | por eso | "
            "por ello | a raiz de | ya que | puesto que | dado que | se deb(?:e|en|io|ieron) a | "
            "(?:dio|dieron|da|dan) lugar a | result(?:o|aron) en | "
            "(?:es|son|fue|fueron|era|eran) (?:\\w+ )?responsables? del? | "
            "impuls(?:o|a|an|aron|ado|ada|ando) (?:\\w+ ){0,3}(?:crecimiento|ventas|demanda|ingresos|precios)",
            "razon(?:es)? | pues | por (?:lo )?tanto | por consiguiente | en consecuencia | atribu\\w+ | explic\\w+ | "
            "responsables? | contribu\\w+ | oblig\\w+ | impuls\\w+ | culpa",
        ),
        Family(
            "causal",
            "(?:oblig|forz)(?:o|a|an|aron|ado|ada|ados|adas|ando) (?:\\w+ ){0,4}a(?:l)?",
            "oblig\\w+ | forz\\w+ | tuvo que | tuvieron que | tiene que | tienen que | deb(?:e|en|io|ieron) | "
            "debido a | porque",
        ),
        Family(
            "causal",
            # "Hizo todo lo posible" makes nothing possible.
            "permitio | permite | permitieron | posibilit\\w+ | "
            "h(?:izo|icieron|ace|acen|aciendo) (?:\\w+ ){0,5}(?<!lo\\s)posibles?",
            "permit\\w+ | posible | gracias",
        ),
        Family("causal", "impid\\w+ | impedir | impedido", "evit\\w+ | bloque\\w+ | proteg\\w+"),
        Family(
            "certainty",
            "demostr\\w+ | demuestra\\w* | prueba que | probado | definitivamente",
            "confirm\\w+ | establec\\w+",
        ),
        Family(
            "certainty",
            "confirm(?:a|an|o|aron|ado|ando) que",
            "confirm\\w+ | demostr\\w+ | demuestra\\w* | establec\\w+ | verific\\w+ | muestra\\w* | mostr\\w+ | "
            "comprob\\w+",
        ),
        Family(
            "certainty",
            "garantiz\\w+ | ciertamente | sin (?:ninguna )?duda | indudablemente | innegable\\w* | inevitable\\w* | "
            "indiscutible\\w*",
            "segur\\w+ | ciert\\w+ | promet\\w+ | asegur\\w+",
        ),
    ),
    neutral="no solo | sobre todo | todos los (?:dias|meses|anos) | todas las (?:semanas|horas) | "
    "primer (?:trimestre|semestre|ministro|ano|mes)",
    denials="no | nunca | jamas | sin | ni | ningun\\w*",
    hedges="puede | pueden | podria | podrian | quizas? | tal vez | probablemente | posiblemente | parece | parecen "
    "| sugiere\\w* | desconocid[oa]s? | incierto | supuestamente | un[oa] de l[oa]s",
    borders="y | pero | mientras | aunque",
    stop=_words(
        """
        algo algunos ante antes aqui cada como con contra cual cuando desde donde durante ella ellas ellos entre
        era eran esta estaba estan estas este esto estos fue fueron habia hace hacia hasta mas mientras muy nada
        otra otras otro otros para pero poco porque segun ser sera sido sino sobre solo son sus tambien tanto
        tiene tienen toda todas todo todos tras unas unos
        """
    ),
)

STRONG_WORDS: Mapping[str, StrongWords] = {"en": _ENGLISH, "de": _GERMAN, "fr": _FRENCH, "es": _SPANISH}
"""By ISO 639-1 code."""
