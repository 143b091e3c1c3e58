/**
 * Answers as the documents show them: without members that differ each time, and without text that looks like a secret.
 */
import type { ExampleId } from './example-story.ts'

/** Their answer is the document itself, or is nothing to show. */
const NOT_SHOWN: readonly ExampleId[] = ['getOpenAPI', 'getAdminOpenAPI', 'getMetrics', 'getEvents']

const REPLACED: readonly (readonly [found: RegExp, shown: string])[] = [
  [/"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"/g, '"2026-11-21T12:00:00.000Z"'],
  [/"svctk_[^"]+"/g, '"svctk_eyJ2IjoxfQ.c2lnbmF0dXJl"'],
  [/svcurl_[\w.-]+/g, 'svcurl_eyJ2IjoxfQ.c2lnbmF0dXJl'],
  [/("secretKey":)"[^"]+"/g, '$1"shown-once-and-never-again"'],
  [/"AK[A-Z2-7]{18}"/g, '"AKEXAMPLEEXAMPLEEXAM"'],
  [/"acc_[0-9A-Z]{26}"/g, '"acc_01KAEXAMPLEACCOUNTEXAMPLE"'],
  [/"mpu_[0-9A-Z]{26}"/g, '"mpu_01KAEXAMPLEUPLOADEXAMPLEAA"'],
  [/"[0-9A-Z]{26}"/g, '"01KAEXAMPLEVERSIONEXAMPLEA"'],
  [/"adm_[0-9a-f]{16}"/g, '"adm_0123456789abcdef"'],
  [/"etag":"[0-9a-f]{32}-/g, '"etag":"0123456789abcdef0123456789abcdef-'],
  [/("operationId":)"[^"]+"/g, '$1"op_example"'],
  [/("requestId":)"[^"]+"/g, '$1"019ab000-0000-7000-8000-000000000000"'],
  [/("durationMs":)\d+/g, '$12'],
]

/** An empty answer is not shown. */
export function recorded(answers: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const shown = Object.entries(answers)
    .filter(([id, answer]) => answer !== '' && !NOT_SHOWN.some((not) => not === id))
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
  let text = JSON.stringify(Object.fromEntries(shown))
  for (const [found, instead] of REPLACED) text = text.replace(found, instead)
  return JSON.parse(text) as Record<string, unknown>
}

export function sourceOf(answers: Readonly<Record<string, unknown>>): string {
  return [
    '/**',
    ' * What the examples were answered, with times, ids and secrets replaced. Made by `node test/api/examples.test.ts --rewrite`.',
    ' */',
    `export const ANSWERS: Readonly<Record<string, unknown>> = ${JSON.stringify(answers, null, 2)}`,
    '',
  ].join('\n')
}
