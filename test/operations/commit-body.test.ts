/**
 * The outcome that the session of an upload receives when its commit ends.
 */
import t from 'tap'
import { Condition } from '../../cluster/index.ts'
import type { UploadOutcome } from '../../src/content/uploads.ts'
import { commitBody } from '../../src/operations/base/commit-body.ts'

async function ending(propose: () => Promise<string>, signal = new AbortController().signal) {
  const answer: UploadOutcome[] = []
  const stored = { size: 0, etag: 'e', contentTag: 'e', checksums: {}, body: { kind: 'empty' } } as const
  const end = (outcome: UploadOutcome) => void answer.push(outcome)
  const settled = await commitBody({ ...stored, end }, propose, signal).catch((error: unknown) => error)
  return { answer, settled }
}

t.test('commitBody', async (t) => {
  await t.test('is known once there is a reply, also a refusal', async (t) => {
    t.strictSame(await ending(async () => 'reply'), { answer: ['known'], settled: 'reply' })
  })

  await t.test('is known when the machine reports that nothing was proposed', async (t) => {
    const fault = new Condition('no_leader', 'No node leads')
    t.strictSame(await ending(() => Promise.reject(fault)), { answer: ['known'], settled: fault })
  })

  await t.test('is unknown when the entry may still be committed', async (t) => {
    for (const fault of [new Condition('commit_unknown', 'The leader went'), new Error('anything else')])
      t.strictSame(await ending(() => Promise.reject(fault)), { answer: ['unknown'], settled: fault })
  })

  await t.test('proposes nothing for a client that has gone', async (t) => {
    const reason = new Error('gone')
    let proposed = 0
    const { answer, settled } = await ending(async () => `${proposed++}`, AbortSignal.abort(reason))
    t.strictSame({ answer, settled, proposed }, { answer: ['known'], settled: reason, proposed: 0 })
  })
})
