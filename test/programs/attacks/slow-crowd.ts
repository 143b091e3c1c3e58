/**
 * A crowd: 1,000 uploads of 280 bytes a second at each node, and 100 honest ones of 128 kB/s in all.
 *
 * What the 12.8 MB/s of honest clients cost a machine by themselves says the second one, without the slow clients.
 */
import type { Attack, AttackTarget } from './attack.ts'
import { dripping } from './slow-bodies.ts'
import { type Again, runSlowUploads, type SlowUpload } from './slow-uploads.ts'
import { puts } from './victims.ts'

const SLOW_A_NODE = 1000
const HONEST = 100
const HONEST_BYTES = 8 * 1024 * 1024
const PIECES_A_SECOND = 8
/** What a refusal asks for. */
const PATIENT_MS = 10_000
const IMPATIENT_MS = 100

export const slowCrowd: Attack = {
  id: 'D1b',
  title: '1,000 bodies of 280 B/s at each node, 100 of 128 kB/s',
  victim: puts(100_000),
  leadMs: 8000,
  run: (target, signal) => crowd(target, signal, PATIENT_MS),
}

export const impatientCrowd: Attack = {
  id: 'D1b-again',
  title: 'D1b, and those that were refused come again after 100 ms',
  victim: puts(100_000),
  leadMs: 8000,
  run: (target, signal) => crowd(target, signal, IMPATIENT_MS),
}

export const honestCrowd: Attack = {
  id: 'D1b-honest',
  title: '100 bodies of 128 kB/s and no slow ones',
  victim: puts(100_000),
  leadMs: 8000,
  run: (target, signal) => runSlowUploads(honestUploads(target), signal, againAfter(PATIENT_MS)),
}

/** `slowAgainMs`: until a slow client that was refused comes again. Honest ones are patient. */
async function crowd(
  target: AttackTarget,
  signal: AbortSignal,
  slowAgainMs: number,
): Promise<Record<string, number>> {
  const [slow, honest] = await Promise.all([
    runSlowUploads(slowUploads(target), signal, againAfter(slowAgainMs)),
    runSlowUploads(honestUploads(target), signal, againAfter(PATIENT_MS)),
  ])
  return { ...prefixed('slow', slow), ...prefixed('honest', honest) }
}

function slowUploads({ nodes, evil }: AttackTarget): readonly SlowUpload[] {
  return nodes.flatMap(({ dataUrl }, at) =>
    Array.from({ length: SLOW_A_NODE }, (_, n) => ({
      ...dripping(dataUrl, pathOf(SLOW_A_NODE * at + n), { authorization: `Bearer ${evil.token}` }),
      delayMs: (10_000 * n) / SLOW_A_NODE,
    })),
  )
}

function honestUploads({ nodes, evil }: AttackTarget): readonly SlowUpload[] {
  return Array.from({ length: HONEST }, (_, n) => ({
    url: nodes[n % nodes.length]?.dataUrl ?? '',
    path: pathOf(1_000_000 + n),
    headers: { authorization: `Bearer ${evil.token}` },
    length: HONEST_BYTES,
    firstBytes: 0,
    pieceBytes: 16_000,
    everyMs: 1000 / PIECES_A_SECOND,
    delayMs: 10 * n,
  }))
}

/** A client that was refused or has finished starts again. */
const againAfter = (afterMs: number): Again => ({
  afterMs,
  next: (upload, n) => ({ ...upload, path: pathOf(2_000_000 + n) }),
})

const pathOf = (n: number): string => `/api/v1/buckets/photos/objects/crowd/${n}`

function prefixed(who: string, counts: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(Object.entries(counts).map(([name, count]) => [`${who} ${name}`, count]))
}
