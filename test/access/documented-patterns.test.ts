/** Patterns that documents show, against the parsers that decide: they take and refuse the same texts. */
import fc from 'fast-check'
import t from 'tap'
import { ADDRESS_RANGE_PATTERN, addressRange } from '../../src/base/network-address.ts'
import { CERTIFICATE_PATTERN, readBinding } from '../../src/access/caller-binding.ts'
import { checkCorsRules, CORS_PATTERNS, type CorsRuleInput } from '../../src/access/cors-rules.ts'
import { parseScopes, SCOPES_PATTERN } from '../../src/access/scopes.ts'
import { digestPattern, KEPT_ALGORITHMS, parseDigest } from '../../src/content/checksums.ts'
import { DIGEST_HEADER_NOTES, readDigestHeaders } from '../../src/api/content-digests.ts'
import { checkMetadata, HEADER_TEXT_PATTERN } from '../../src/operations/objects/description.ts'

const accepts = (parse: (text: string) => unknown) => (text: string) => {
  try {
    parse(text)
    return true
  } catch {
    // Refused.
    return false
  }
}

const ruleWith = (more: Partial<CorsRuleInput>) =>
  checkCorsRules([{ allowedOrigins: ['*'], allowedMethods: ['GET'], ...more }])

/** Texts of pieces that mean something to a parser, so that many of them are nearly right. */
const textOf = (...pieces: readonly string[]): fc.Arbitrary<string> =>
  fc.array(fc.constantFrom(...pieces), { maxLength: 20 }).map((chosen) => chosen.join(''))

const PATTERNS: readonly (readonly [
  what: string,
  pattern: string,
  isTaken: (text: string) => boolean,
  texts: fc.Arbitrary<string>,
])[] = [
  [
    'address range',
    ADDRESS_RANGE_PATTERN,
    (text) => addressRange(text) !== null,
    fc.oneof(
      textOf('0', '1', '2', '25', '255', '256', '.', '.', '/', '/8', '/32', '/33'),
      textOf('0', 'a', 'Ff', '1234', ':', ':', '::', '1.2.3.4', '/', '/64', '/128', '/129', '%1'),
      fc.ipV4().map((address) => `${address}/16`),
      fc.ipV6(),
      fc.ipV6().map((address) => `${address}/48`),
    ),
  ],
  [
    'client certificate',
    CERTIFICATE_PATTERN,
    accepts((text) => readBinding({ certificates: [text] })),
    fc.oneof(
      textOf('cn:', 'a', ' ', '\u{1F600}', '\u0000', '\u0085'),
      fc.tuple(fc.nat(33), textOf('', ':', '0')).map(([n, end]) => `Sha256:${'aB:'.repeat(n)}0${end}`),
    ),
  ],
  ...KEPT_ALGORITHMS.map(
    (algorithm) =>
      [
        `digest ${algorithm}`,
        digestPattern(algorithm),
        accepts((text) => parseDigest(algorithm, text)),
        fc
          .tuple(fc.nat(50), fc.constantFrom('', 'A', 'B', 'I', '+', '/'), fc.constantFrom('', '=', '=='))
          .map(([n, last, end]) => `${'a'.repeat(n)}${last}${end}`),
      ] as const,
  ),
  [
    'Content-Digest',
    String(DIGEST_HEADER_NOTES.find(({ name }) => name === 'Content-Digest')?.schema?.['pattern']),
    accepts((text) => readDigestHeaders({ 'content-digest': text })),
    textOf(
      'sha-256=:',
      'sha-512=:',
      `${'A'.repeat(43)}=`,
      'A'.repeat(43),
      'A'.repeat(86),
      ':',
      ', ',
      ';a=1',
      '[',
    ),
  ],
  [
    'origin of a CORS rule',
    CORS_PATTERNS.origin,
    accepts((text) => ruleWith({ allowedOrigins: [text] })),
    textOf('null', 'https', '://', ':', '*', '.', 'a', '/', '?', ' ', '~'),
  ],
  [
    'header of a CORS rule',
    CORS_PATTERNS.header,
    accepts((text) => ruleWith({ allowedHeaders: [text] })),
    textOf('x', '-', '*', ' ', ':', '_'),
  ],
  [
    'header that a CORS rule exposes',
    CORS_PATTERNS.exposedHeader,
    accepts((text) => ruleWith({ exposeHeaders: [text] })),
    textOf('x', '-', '*', ' ', ':', '_'),
  ],
  [
    'value of user metadata',
    HEADER_TEXT_PATTERN,
    accepts((text) => checkMetadata([['a', text]])),
    textOf('x', ' ', '\t', '\n', '\u0085', '\u3000', '\u{1F600}'),
  ],
  [
    'scopes',
    SCOPES_PATTERN,
    accepts(parseScopes),
    textOf(
      'read',
      'write',
      ',',
      ',',
      ' ',
      'op=',
      'op=read:bucket=*:prefix=',
      ':bucket=ab',
      ':bucket=abc:prefix=',
    ),
  ],
]

for (const [what, pattern, isTaken, texts] of PATTERNS)
  t.test(`${what}: the pattern of the documents takes what the parser takes, seed 1`, async () => {
    const shown = new RegExp(pattern, 'u')
    fc.assert(
      fc.property(texts, (text) => shown.test(text) === isTaken(text)),
      { numRuns: 3000, seed: 1 },
    )
  })
