/**
 * The weights and zones of several members between their fields and the API: what is sent, in which order, and how it continues after a failure.
 */
import t from 'tap'
import {
  changesOf,
  isChanged,
  type PlaceChange,
  setRest,
} from '../../packages/console/src/forms/weights-form.ts'

const member = (nodeId: string, weight: number, more: object = {}) => ({
  nodeId,
  weight,
  zone: nodeId,
  ...more,
})
const MEMBERS = [member('n1', 4), member('n2', 1), member('n3', 0), member('n4', 1)]

t.test('only what changes is sent, raised weights first', async (t) => {
  const typed = {
    n1: { weight: '0' },
    n2: { weight: '1.0', zone: ' n2 ' },
    n3: { weight: '2', zone: 'rack' },
    n4: { zone: 'rack' },
  }
  t.same(changesOf(MEMBERS, typed), [
    { nodeId: 'n3', planned: { weight: 2, zone: 'rack' }, set: { weight: 2, zone: 'rack' }, rise: 2 },
    { nodeId: 'n4', planned: { zone: 'rack' }, set: { zone: 'rack' }, rise: 0 },
    { nodeId: 'n1', planned: { weight: 0 }, set: { weight: 0 }, rise: -4 },
  ])
  t.same(changesOf(MEMBERS, {}), [])
})

t.test('what was set and stays is set again, and what is in the file stays there', async (t) => {
  const file = { zone: 'old', weight: 1 }
  const zoned = member('n1', 1, { placement: { zone: 'n1', weight: null, file } })
  const both = member('n2', 3, { placement: { zone: 'n2', weight: 3, file } })
  t.match(changesOf([zoned], { n1: { weight: '2' } }), [
    { planned: { weight: 2, zone: undefined }, set: { weight: 2, zone: 'n1' } },
  ])
  t.match(changesOf([both], { n2: { zone: 'new' } }), [
    { planned: { weight: undefined, zone: 'new' }, set: { weight: 3, zone: 'new' } },
  ])
})

t.test('a field that cannot be sent is a change, and is refused with its member', async (t) => {
  const [first, , third] = MEMBERS
  if (first === undefined || third === undefined) throw new Error('there is no member')
  t.notOk(isChanged(first, { n2: { weight: '9' } }))
  for (const typed of [{ weight: '' }, { weight: 'much' }, { zone: ' ' }])
    t.ok(isChanged(first, { n1: typed }))
  t.ok(isChanged(third, { n3: { weight: '' } }), 'an empty field is not 0')
  t.throws(() => changesOf(MEMBERS, { n1: { weight: 'much' } }), { message: /"much" is not a number/ })
  t.throws(() => changesOf(MEMBERS, { n1: { weight: '' } }), { message: /Give n1 a weight and a zone/ })
  t.throws(() => changesOf(MEMBERS, { n3: { zone: '' } }), { message: /Give n3 a weight and a zone/ })
})

t.test('setting stops at a failure and continues with the rest', async (t) => {
  const changes = changesOf(MEMBERS, { n1: { weight: '1' }, n2: { weight: '2' }, n3: { weight: '2' } })
  const asked: string[] = []
  const done: string[] = []
  let isRefused = true
  const set = async ({ nodeId }: PlaceChange): Promise<void> => {
    asked.push(nodeId)
    if (nodeId === 'n2' && isRefused) throw new Error('no leader')
  }
  const onSet = (nodeId: string): void => void done.push(nodeId)
  await t.rejects(setRest(changes, done, { set, onSet }), { message: 'no leader' })
  t.same(asked, ['n3', 'n2'], 'none is set behind the one that failed')
  t.same(done, ['n3'])
  isRefused = false
  await setRest(changes, [...done], { set, onSet })
  t.same(asked, ['n3', 'n2', 'n2', 'n1'], 'what is set is not set again')
  t.same(done, ['n3', 'n2', 'n1'])
})
