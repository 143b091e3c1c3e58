/**
 * What the session of an upload hears when its commit ends, one way or another.
 */
import t from 'tap'
import { Condition } from '../../cluster/index.ts'
import type { UploadOutcome } from '../../src/content/uploads.ts'
import { commitBody } from '../../src/operations/base/commit-body.ts'

async function ending(propose: () => Promise<string>, signal = new AbortController().signal) {
  const heard: UploadOutcome[] = []
  const stored = { size: 0, etag: 'e', checksums: {}, body: { kind: 'empty' } } as const
  const end = (outcome: UploadOutcome) => void heard.push(outcome)
  const settled = await commitBody({ ...stored, end }, propose, signal).catch((error: unknown) => error)
  return { heard, settled }
}

t.test('commitBody', async (t) => {
  await t.test('says known once there is a reply, a refusal too', async (t) => {
    t.strictSame(await ending(async () => 'reply'), { heard: ['known'], settled: 'reply' })
  })

  await t.test('says known when the machine tells that nothing was proposed', async (t) => {
    const fault = new Condition('no_leader', 'Nobody leads')
    t.strictSame(await ending(() => Promise.reject(fault)), { heard: ['known'], settled: fault })
  })

  await t.test('says unknown when the commit may still come, or nobody can tell', async (t) => {
    for (const fault of [new Condition('commit_unknown', 'The leader went'), new Error('anything else')])
      t.strictSame(await ending(() => Promise.reject(fault)), { heard: ['unknown'], settled: fault })
  })

  await t.test('proposes nothing for a client that has gone', async (t) => {
    const reason = new Error('gone')
    let proposed = 0
    const { heard, settled } = await ending(async () => `${proposed++}`, AbortSignal.abort(reason))
    t.strictSame({ heard, settled, proposed }, { heard: ['known'], settled: reason, proposed: 0 })
  })
})
