/** What the outbox answers when it changes between the reading of an index and of the records that it leads to. */
import t from 'tap'
import { busyHooks } from '../../src/store/reads/outbox-reads.ts'
import type { RowPage } from '../../src/store/reads/state-reader.ts'
import { setNotifications, requested, worldWithHooks } from '../state-machine/hook-commands.ts'
import { put, rowsOf } from '../state-machine/map-world.ts'

t.test('a hook that is removed while its index row is read is not busy', async (t) => {
  const world = worldWithHooks(requested('a'), requested('b'))
  world.do(put('k', { kind: 'empty' }, 0))
  const busy = async (meanwhile: () => void): Promise<readonly string[]> => {
    const page = async <R extends object>(): Promise<RowPage<R>> => {
      const items = rowsOf<R>(world, 'busyHook')
      meanwhile()
      return { items, names: [], next: null }
    }
    const { items } = await busyHooks({ get: (key) => world.get(key), page }, { limit: 10 })
    return items.map(({ id }) => id)
  }
  t.same(await busy(() => undefined), ['a', 'b'])
  t.same(await busy(() => void world.do(setNotifications([requested('b')]))), ['b'], 'its secret is gone')
  t.same(await busy(() => undefined), ['b'])
})
