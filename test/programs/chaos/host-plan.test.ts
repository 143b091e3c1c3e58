import t from 'tap'
import { dropCommand, HOSTS_EVER_MAX, pairsOf, wireAddress, wireCommands } from './host-plan.ts'

const HOSTS = Array.from({ length: HOSTS_EVER_MAX }, (_, at) => at + 1)

t.test('the hosts of a run', async (t) => {
  await t.test('have a wire for each two of them, with addresses of its own', async (t) => {
    const pairs = pairsOf(HOSTS)
    t.equal(pairs.length, (HOSTS_EVER_MAX * (HOSTS_EVER_MAX - 1)) / 2)
    const ends = pairs.flatMap(({ a, b }) => [
      wireAddress({ at: a, other: b }),
      wireAddress({ at: b, other: a }),
    ])
    t.equal(new Set(ends).size, ends.length)
    const bytes = ends.flatMap((address) => address.split('.').map(Number))
    t.ok(bytes.every((byte) => byte < 255))
  })

  await t.test('name nothing outside of their spaces when they are wired', async (t) => {
    for (const command of wireCommands({ a: 1, b: 2 }))
      t.ok(command.includes('-n') || command.includes('netns'), command.join(' '))
  })

  await t.test('lose all of a way by one instruction, and a part of it by chance', async (t) => {
    t.match(
      dropCommand({ from: 1, to: 2 }, 100).join(' '),
      /-n n2 .* dev to-n1 ingress bpf da bytecode 1,6 0 0 2$/,
    )
    // 2 ** 32 - 1, less a quarter.
    t.match(
      dropCommand({ from: 1, to: 2 }, 25).join(' '),
      /bytecode 4,32 0 0 4294963256,37 0 1 3221225471,6 0 0 2,6 0 0 4294967295$/,
    )
  })
})
