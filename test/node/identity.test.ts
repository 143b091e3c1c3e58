/** The identity of a data directory and its processes: two copies of one directory are distinguished. */
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { findIdentity, type Identity, openIdentity } from '../../cluster/directory/identity.ts'
import { StartNotes } from '../../cluster/raft-half/start-notes.ts'
import { MemoryEpochFloor } from '../../cluster/node/base/epoch-floor.ts'
import { PeerGate } from '../../cluster/node/peers/peer-gate.ts'
import type { ClusterOptions } from '../../cluster/base/types.ts'
import { SILENT } from '../helpers/loggers.ts'

async function folder(t: { teardown(callback: () => unknown): unknown }): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'holdfast-identity-'))
  t.teardown(() => rm(dir, { recursive: true, force: true }))
  return dir
}

const start = (dataDir: string): Promise<Identity> =>
  openIdentity({ clusterId: 'c', nodeId: 'n1', dataDir, fingerprint: 'f' } as ClusterOptions)

/** The verdict of a peer on this process while `registered` is registered. */
function judged({ incarnation, boot, before }: Identity, registered: Identity): string | null {
  const state = { recoveryEpoch: 0, featureLevel: 1, registered: () => registered }
  const parts = {
    nodeId: 'n2',
    boot: 1,
    before: [],
    featureLevelMax: 1,
    logger: SILENT,
    expelled: null,
    state: () => state,
    clock: () => ({ wall: 0, majority: null }),
    onClock: () => undefined,
  }
  const apart = { epochFloor: new MemoryEpochFloor(), isBlank: () => false }
  const gate = new PeerGate({ ...parts, ...apart, onStale: () => undefined, onExpelled: () => undefined })
  const peerStatus = { boot, before, recoveryEpoch: 0, featureLevel: 1, stateLevel: 1 }
  return gate.judge({ nodeId: 'n1', incarnation, ...peerStatus })?.code ?? null
}

t.test('processes of one directory form one line, registered or not', async (t) => {
  const dir = await folder(t)
  const first = await start(dir)
  t.match(first, { boot: 1, before: [] })
  const second = await start(dir)
  t.same(second.before, [1], 'whether the first was registered is not known')
  t.ok(second.boot > 1)
  for (const registered of [first, second]) t.equal(judged(second, registered), null)
  await new StartNotes(dir, second).confirm()
  t.same((await findIdentity(dir))?.before, [])
  const third = await start(dir)
  t.same(third.before, [second.boot])
  t.equal(judged(third, second), null)
  t.equal(judged(third, first), null, 'the judging node may be behind')
  t.equal(judged(second, third), 'member_rolled_back', 'but no node accepts the previous process')
})

t.test('a copy is detected at its first start and at every later one [membership.rolled-back]', async (t) => {
  for (let n = 0; n < 20; n++) {
    const dir = await folder(t)
    await new StartNotes(dir, await start(dir)).confirm()
    const copy = `${dir}-copy`
    t.teardown(() => rm(copy, { recursive: true, force: true }))
    await cp(dir, copy, { recursive: true })
    const later = await start(dir)
    for (let starts = 0; starts < 3; starts++) t.equal(judged(await start(copy), later), 'member_rolled_back')
  }
})

t.test('the list of processes is bounded, and the first stays in it', async (t) => {
  const dir = await folder(t)
  const first = await start(dir)
  await new StartNotes(dir, first).confirm()
  let last = first
  for (let n = 0; n < 70; n++) last = await start(dir)
  t.equal(last.before?.length, 64)
  t.equal(judged(last, first), null)
})

t.test('a directory of an older build lists no earlier processes until it is registered', async (t) => {
  const dir = await folder(t)
  const { before: _, ...old } = await start(dir)
  await writeFile(join(dir, 'identity.json'), JSON.stringify({ format: 1, ...old, boot: 5 }))
  const identity = await start(dir)
  t.equal(identity.before, null)
  t.equal(judged(identity, { ...identity, boot: 3 }), null, 'then only the number counts')
  await new StartNotes(dir, identity).confirm()
  t.same((await start(dir)).before, [identity.boot])
  await writeFile(join(dir, 'identity.json'), JSON.stringify({ format: 1, ...old, before: ['1'] }))
  await t.rejects(findIdentity(dir), { code: 'damaged_identity' })
  t.ok(await readFile(join(dir, 'identity.json')), 'and the file is unchanged')
})

t.test('two writes of one process do not overwrite each other', async (t) => {
  const dir = await folder(t)
  await start(dir)
  const notes = new StartNotes(dir, await start(dir))
  void notes.forgetFingerprint()
  void notes.confirm()
  await notes.written()
  t.match(await findIdentity(dir), { fingerprint: '', before: [] })
})
