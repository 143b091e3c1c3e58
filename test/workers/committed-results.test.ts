/** Results of attempts outside of the cluster: committed one command at a time, and kept until they are. */
import t from 'tap'
import { CommittedResults } from '../../src/workers/base/committed-results.ts'

/** The results of each command, and what is done with it. */
function bench() {
  const commands: number[][] = []
  const landed: string[] = []
  const state = { answer: async (): Promise<boolean> => true, sendMore: async (): Promise<void> => undefined }
  const results = new CommittedResults<string, number>({
    propose: (given) => {
      commands.push([...given])
      return state.answer()
    },
    land: (attempt) => landed.push(attempt),
    sendMore: () => state.sendMore(),
  })
  return { results, commands, landed, state }
}

t.test('results that arrive during a command go into the next one', async (t) => {
  const { results, commands, landed, state } = bench()
  let release: (done: boolean) => void = () => undefined
  state.answer = () => new Promise((resolve) => (release = resolve))
  results.run(results.take('a', 1))
  for (const n of [2, 3]) results.run(results.take('b', n))
  t.same(commands, [[1]])
  const first = release
  state.answer = async () => true
  first(true)
  await results.idle()
  t.same(commands, [[1], [2, 3]])
  t.same(landed, ['a', 'b', 'b'])
})

t.test('a command that failed is repeated, and its attempts are under way until then', async (t) => {
  const { results, commands, landed, state } = bench()
  state.answer = async () => commands.length > 3
  await results.take('a', 1)
  t.same([commands, landed], [[[1]], []])
  await results.take('b', 2)
  t.same([commands.at(-1), landed], [[1, 2], []])
  results.retry()
  await results.idle()
  t.same([commands.length, landed], [3, []])
  results.retry()
  await results.idle()
  t.same(
    [commands.at(-1), landed],
    [
      [1, 2],
      ['a', 'b'],
    ],
  )
  results.retry()
  t.equal(commands.length, 4, 'there is nothing to repeat')
})

t.test('more results than a command may have are committed in several', async (t) => {
  const { results, commands, landed, state } = bench()
  state.answer = async () => false
  for (let n = 0; n < 600; n++) await results.take(`a${n}`, n)
  commands.length = 0
  state.answer = async () => true
  results.retry()
  await results.idle()
  t.same(
    commands.map(({ length }) => length),
    [256, 256, 88],
  )
  t.same(new Set(commands.flat()).size, 600)
  t.equal(landed.length, 600)
})

t.test('from its end on nothing is committed', async (t) => {
  const { results, commands } = bench()
  results.close()
  await results.take('a', 1)
  results.retry()
  await results.idle()
  t.same([commands, results.isClosed], [[], true])
})
