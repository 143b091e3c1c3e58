/**
 * `npm run s3-clients [-- --only aws-cli,rclone --small --keep-going --markdown FILE]`: every version of every client, with large files and
 * many small ones.
 *
 * Owns: the table. Knows nothing of: what a client does.
 */
import { writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { VERSION } from '../../src/base/version.ts'
import { LARGE, type Sizes, SMALL } from './base/sizes.ts'
import { S3World } from './base/s3-world.ts'
import type { PlayedStep } from './base/stage.ts'
import { CLIENTS } from './clients.ts'

const USAGE = `npm run s3-clients -- [--only NAME,...] [--small] [--keep-going] [--markdown FILE]

  --only NAME,...   only these clients: ${CLIENTS.map(({ name }) => name).join(', ')}
  --small           the sizes of npm test instead of a file of 1 GiB and 2,000 small ones
  --keep-going      play the steps of a client after one that failed as well
  --markdown FILE   write the table there as well
`

interface Outcome {
  readonly client: string
  readonly version: string
  readonly steps: readonly PlayedStep[]
}

const say = (text: string): void => void process.stderr.write(`${text}\n`)

function table(outcomes: readonly Outcome[], absent: readonly string[]): string {
  const rows = outcomes.map(({ client, version, steps }) => {
    const failed = steps.filter(({ failure }) => failure !== null)
    const seconds = steps.reduce((sum, step) => sum + step.seconds, 0).toFixed(1)
    const result = failed.length === 0 ? 'passed' : `failed: ${failed.map(({ name }) => name).join('; ')}`
    return `| ${client} | ${version} | ${steps.length} | ${seconds} | ${result} |`
  })
  const head = ['| client | version | steps | seconds | result |', '|---|---|---|---|---|']
  return [...head, ...rows, ...absent.map((name) => `| ${name} | | | | not on this machine |`)].join('\n')
}

function page(rows: string, outcomes: readonly Outcome[], { bigBytes, partBytes, many }: Sizes): string {
  const machine = `Node ${process.versions.node}, ${availableParallelism()} cores shared by the nodes and the clients`
  const steps = outcomes.map(({ client, version, steps: played }) => {
    const lines = played.map(({ name, seconds, failure }) => {
      const result = failure === null ? '' : ', **failed**'
      return `| ${name} | ${seconds.toFixed(1)}${result} |`
    })
    return [`## ${client} ${version}`, '', '| step | seconds |', '|---|---|', ...lines, ''].join('\n')
  })
  return [
    '# Clients of S3 in round trips',
    '',
    `\`npm run s3-clients\` with Holdfast ${VERSION}: three nodes on one machine, ${machine}. Every client moves a file of ${bigBytes} bytes in parts of`,
    `${partBytes}, those that copy folders also ${many} small files, with another node for each step. What comes back is compared with what was sent, and`,
    'the native API reads the same objects. Seconds include the start of each program.',
    '',
    rows,
    '',
    ...steps,
  ].join('\n')
}

async function playAll(
  world: S3World,
  only: readonly string[],
  options: { readonly small: boolean; readonly keepsGoing: boolean },
) {
  const outcomes: Outcome[] = []
  const absent: string[] = []
  for (const { name, find } of CLIENTS.filter((client) => only.length === 0 || only.includes(client.name))) {
    const found = find()
    if (found.length === 0) absent.push(name)
    for (const client of found) {
      const onStep = (step: PlayedStep): void =>
        say(`${name} ${client.version}: ${step.name}: ${step.failure ?? 'ok'} (${step.seconds.toFixed(1)} s)`)
      const sizes = options.small ? SMALL : LARGE
      const steps = await world.play(name, client, { sizes, keepsGoing: options.keepsGoing, onStep })
      outcomes.push({ client: name, version: client.version, steps })
    }
  }
  return { outcomes, absent }
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      only: { type: 'string', default: '' },
      small: { type: 'boolean', default: false },
      'keep-going': { type: 'boolean', default: false },
      markdown: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) {
    process.stdout.write(USAGE)
    return 0
  }
  const only = values.only.split(',').filter((name) => name !== '')
  const ends: (() => unknown)[] = []
  try {
    const world = await S3World.start({ teardown: (end) => ends.unshift(end) })
    const { outcomes, absent } = await playAll(world, only, {
      small: values.small,
      keepsGoing: values['keep-going'],
    })
    const text = table(outcomes, absent)
    process.stdout.write(`${text}\n`)
    if (values.markdown !== undefined)
      writeFileSync(values.markdown, page(text, outcomes, values.small ? SMALL : LARGE))
    return outcomes.every(({ steps }) => steps.every(({ failure }) => failure === null)) ? 0 : 1
  } finally {
    for (const end of ends) await end()
  }
}

process.exitCode = await main()
