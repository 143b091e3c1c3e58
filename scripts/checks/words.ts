/**
 * The word list of the repository: words that a reader has to decode, and what to write instead.
 *
 * Owns: the list. Rule: only a word with a plain replacement is on it; docs/glossary.md defines the terms that replace them.
 * Names on the wire and on the disk stay as they were released and are listed as RELEASED.
 */
interface RefusedWord {
  readonly pattern: RegExp
  readonly instead: string
}

const word = (pattern: string, instead: string): RefusedWord => ({
  pattern: new RegExp(`\\b(?:${pattern})\\b`, 'i'),
  instead,
})

export const REFUSED_WORDS: readonly RefusedWord[] = [
  word('who(?:so)?ever', 'name the actor: the leader, the caller, a node that'),
  word('(?:no|any|every)body', 'name who: no node, any client, every process'),
  word('anew', 'again'),
  word('(?:un)?told', 'reported, returned, notified or stated'),
  word('wish(?:es|ed)?', 'request'),
  word('lacks?|lacked|lacking', 'does not have, missing; the reason why a step waits is a blocker'),
  word('mend(?:s|ed|ing)?', 'repair or fix'),
  word('distrust(?:s|ed)?', 'quarantine'),
  word('farewells?', 'removal notice'),
  word('standing', 'status'),
  word('(?:go(?:es)?|going|went) on', 'continue'),
  word('for ever', 'forever or indefinitely'),
  word('(?:un)?heard|hears', 'received, receives'),
  word('begun', 'started'),
  word('askers?', 'caller or waiter'),
  word('leaver', 'leaving node'),
  word('strangers?', 'unknown peer or unauthenticated client'),
  word('ladders?', 'order of checks'),
  word('patience', 'time limit'),
  word('(?<!regardless )of which', 'two sentences'),
  word('on (?:its|their) way', 'in flight'),
]

/** Names that clients, peers or disks know: they cannot change. */
const RELEASED = /'mending'|'begun'|\bwish:|requested\.wish|DISTRUSTED|\/audit\/standing/g

/** Records of their day and the traces of scenarios are not rewritten; generated texts follow their source. */
const EXEMPT =
  /^docs\/(adr|benchmarks|openapi)\/|\/generated\/|^CHANGELOG\.md$|^test\/programs\/scenarios\/|^scripts\/checks\/words\.ts$/

/** One message for each refused word of a line, with the line, the word and its replacement. */
export function refusedWords({ path, text }: { readonly path: string; readonly text: string }): string[] {
  if (EXEMPT.test(path)) return []
  return text.split('\n').flatMap((line, index) => {
    const checked = line.replaceAll(RELEASED, '')
    return REFUSED_WORDS.flatMap(({ pattern, instead }) => {
      const found = pattern.exec(checked)
      return found ? [`line ${index + 1} says "${found[0]}": write ${instead}`] : []
    })
  })
}
