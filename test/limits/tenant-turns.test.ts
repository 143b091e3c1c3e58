/** Work of tenants on one node: all of one that is alone, a few of each while others ask as well. */
import t from 'tap'
import { TenantPresence } from '../../src/limits/tenant-presence.ts'
import { TenantTurns } from '../../src/limits/tenant-turns.ts'
import { deferred, until } from '../helpers/async.ts'

const MANY = { tenant: 'many', weight: 1 }
const FEW = { tenant: 'few', weight: 1 }

function node() {
  const clock = { nowMs: 0 }
  const presence = new TenantPresence()
  const turns = new TenantTurns({ sharedWorkMax: 4, presence, now: () => clock.nowMs })
  const started: string[] = []
  const ends: (() => void)[] = []
  /** Work that lasts until the test ends it. */
  const run = (who: typeof MANY): Promise<void> =>
    turns.run(who, () => {
      const { promise, resolve } = deferred()
      started.push(who.tenant)
      ends.push(resolve)
      return promise
    })
  const endAll = async (works: readonly Promise<void>[]): Promise<void> => {
    await until('all have started', () => {
      for (const end of ends.splice(0)) end()
      return started.length >= works.length
    })
    for (const end of ends) end()
    await Promise.all(works)
  }
  return { clock, presence, turns, started, run, endAll }
}

t.test('TenantTurns', async (t) => {
  t.test('hold a tenant that is alone up in nothing', async (t) => {
    const { presence, run, started, endAll } = node()
    presence.note('many', 0)
    const works = Array.from({ length: 1000 }, () => run(MANY))
    t.equal(started.length, 1000)
    await endAll(works)
  })

  t.test('give a tenant few at once while another asks as well, which begins at once', async (t) => {
    const { presence, turns, run, started, endAll } = node()
    presence.note('few', 0)
    presence.note('many', 0)
    const works = Array.from({ length: 40 }, () => run(MANY))
    t.equal(started.length, 4)
    t.equal(turns.waiting, 36)
    works.push(run(FEW))
    t.equal(started.at(-1), 'few')
    await endAll(works)
    t.equal(turns.waiting, 0)
  })

  t.test('give a tenant of weight three three times as many', async (t) => {
    const { presence, run, started, endAll } = node()
    presence.note('few', 0)
    presence.note('many', 0)
    const works = Array.from({ length: 40 }, () => run({ ...MANY, weight: 3 }))
    t.equal(started.length, 12)
    await endAll(works)
  })

  t.test('settle as the work does, and begin the next one after a failure', async (t) => {
    const { presence, turns } = node()
    presence.note('few', 0)
    presence.note('many', 0)
    const works = Array.from({ length: 10 }, (_, n) =>
      turns.run(MANY, async () => {
        if (n % 2 === 1) throw new Error(`broken ${n}`)
        return n
      }),
    )
    const outcomes = await Promise.allSettled(works)
    t.match(outcomes.slice(0, 2), [{ value: 0 }, { reason: { message: 'broken 1' } }])
    t.equal(turns.waiting, 0)
  })
})

t.test('TenantPresence', async (t) => {
  const presence = new TenantPresence()
  t.notOk(presence.isShared('a', 0))
  presence.note('a', 0)
  t.notOk(presence.isShared('a', 0), 'it is alone')
  t.ok(presence.isShared('b', 0))
  presence.note('b', 1_000)
  presence.note('b', 1_500)
  t.ok(presence.isShared('b', 1_999), 'the other was here a moment ago')
  t.notOk(presence.isShared('b', 2_000), 'and is not any more')
  t.ok(presence.isShared('a', 3_499))
  t.notOk(presence.isShared('a', 3_500))
})
