/** The names a gateway uploads under: over real rows, with a log that can fail. */
import t from 'tap'
import { chunkKeys } from '../../src/state-machine/chunks/keys.ts'
import { Condition } from '../../cluster/index.ts'
import { UploadSessions } from '../../src/workers/upload-sessions.ts'
import type { Command } from '../../src/state-machine/commands.ts'
import type { Propose } from '../../src/commands/propose.ts'
import { MapWorld } from '../state-machine/map-world.ts'

class SessionWorld {
  readonly rows = new MapWorld()
  readonly uploads: UploadSessions
  fault: Error | null = null
  #count = 0

  constructor() {
    const propose = async (command: Command) => {
      if (this.fault) throw this.fault
      return this.rows.run(command)
    }
    const nextSession = () => `s${++this.#count}`
    this.uploads = new UploadSessions({ nodeId: 'n1', nextSession, propose: propose as Propose })
  }

  session(id: string) {
    return this.rows.get(chunkKeys.session(id))
  }
}

t.test('UploadSessions', async (t) => {
  t.test('opens one session for all uploads, and no birth is given twice', async (t) => {
    const { uploads, rows } = new SessionWorld()
    const [one, two] = await Promise.all([uploads.begin(), uploads.begin()])
    t.same(
      [one, two, one].map((upload) => upload?.newBirth()),
      ['s1-0', 's1-1', 's1-2'],
    )
    t.equal(rows.index, 1)
  })

  t.test('commits a mark that no upload under way is below', async (t) => {
    const world = new SessionWorld()
    const first = await world.uploads.begin()
    first.newBirth()
    const second = await world.uploads.begin()
    second.newBirth()
    first.newBirth()
    await world.uploads.advance()
    t.equal(world.session('s1')?.lowWater, 0)
    first.end('known')
    await world.uploads.advance()
    t.equal(world.session('s1')?.lowWater, 1, 'the second began there')
    second.end('known')
    await world.uploads.advance()
    t.equal(world.session('s1')?.lowWater, 3)
    const before = world.rows.index
    await world.uploads.advance()
    t.equal(world.rows.index, before, 'nothing to say')
  })

  t.test(
    'holds the mark at an upload of unknown outcome, and closes that session once nothing else is in it',
    async (t) => {
      const world = new SessionWorld()
      const [lost, slow] = [await world.uploads.begin(), await world.uploads.begin()]
      for (const upload of [lost, slow]) upload.newBirth()
      lost.end('unknown')
      lost.end('known')
      await world.uploads.advance()
      t.match(world.session('s1'), { lowWater: 0, closed: false })
      const next = await world.uploads.begin()
      t.equal(next.newBirth(), 's2-0')
      t.match(world.session('s1'), { closed: false }, 'the slow one may still commit')
      slow.end('known')
      await world.uploads.advance()
      t.match(world.session('s1'), { lowWater: 0, closed: true })
      t.match(world.session('s2'), { closed: false })
    },
  )

  t.test('opens a session ahead of uploads, once, and closes those of earlier runs with it', async (t) => {
    const world = new SessionWorld()
    world.rows.do({ type: 'openSession', session: 'earlier', node: 'n1', keep: [] })
    for (let i = 0; i < 2; i++) await world.uploads.prepare()
    t.match(world.session('earlier'), { closed: true })
    t.equal((await world.uploads.begin()).newBirth(), 's1-0')
    t.equal(world.rows.index, 2)
  })

  t.test('leaves a session that somebody closed', async (t) => {
    const world = new SessionWorld()
    await world.uploads.begin()
    world.rows.do({ type: 'closeSession', session: 's1' })
    world.uploads.retire((id) => world.session(id)?.closed === true)
    t.equal((await world.uploads.begin()).newBirth(), 's2-0')
  })

  t.test(
    'opens another one when the outcome of opening is unknown or it was refused, which closes the first',
    async (t) => {
      const world = new SessionWorld()
      world.fault = new Condition('commit_unknown', 'who knows')
      await t.rejects(world.uploads.begin(), { code: 'commit_unknown' })
      world.fault = null
      world.rows.do({ type: 'openSession', session: 's1', node: 'n1', keep: [] })
      t.equal((await world.uploads.begin()).newBirth(), 's2-0')
      t.match(world.session('s1'), { closed: true })
      const other = new SessionWorld()
      other.rows.do({ type: 'openSession', session: 's1', node: 'n1', keep: [] })
      await t.rejects(other.uploads.begin(), { code: 'slow_down' })
      t.equal((await other.uploads.begin()).newBirth(), 's2-0')
    },
  )
})
