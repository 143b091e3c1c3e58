import t from 'tap'
import { parseChaosOptions } from './options.ts'
import { NEMESIS_NAMES } from './strikes.ts'

const SEED = 77
const parsed = (...argv: string[]) => parseChaosOptions(argv, () => SEED)

t.test('parseChaosOptions', async (t) => {
  await t.test(
    'is a minute of everything on three hosts, with a seed that is drawn, by default',
    async (t) => {
      t.strictSame(parsed(), {
        plan: 'faults',
        nodes: 3,
        seconds: 60,
        nemeses: [...NEMESIS_NAMES],
        holdSeconds: null,
        seed: SEED,
        jsonFile: null,
        logDir: null,
      })
    },
  )

  await t.test('takes each nemesis once, and the seed that it is given', async (t) => {
    const options = parsed(
      '--nemesis',
      'kill,pause,kill',
      '--hold',
      '120',
      '--seed',
      '5',
      '--nodes',
      '5',
      '--json',
      '/tmp/report.json',
    )
    t.match(options, {
      nemeses: ['kill', 'pause'],
      holdSeconds: 120,
      seed: 5,
      nodes: 5,
      jsonFile: '/tmp/report.json',
    })
  })

  await t.test('takes the walk, which has its own hosts and steps', async (t) => {
    t.match(parsed('--plan', 'walk', '--seed', '5'), { plan: 'walk', seed: 5 })
  })

  await t.test('is null for --help', async (t) => t.equal(parsed('--help'), null))

  await t.test('names the error and the expected value', async (t) => {
    const refused: readonly [string[], RegExp][] = [
      [['--nemesis', 'earthquake'], /no nemesis 'earthquake': expected mixed, or some of cut-pair/],
      [['--nodes', '2'], /--nodes takes a whole number from 3 to 9, got '2'/],
      [['--seconds', 'long'], /--seconds takes a whole number from 1 to 86400, got 'long'/],
      [['--seed', '-1'], /--seed/],
      [['--sedd', '1'], /--sedd/],
      [['--plan', 'run'], /no plan 'run': expected one of faults, walk, full-disks/],
      [
        ['--plan', 'walk', '--nodes', '5'],
        /--nodes is for faults: the plan 'walk' has its own hosts and steps/,
      ],
    ]
    for (const [argv, message] of refused) t.throws(() => parsed(...argv), message)
  })
})
