/**
 * Disturbs the wires between three hosts in every way and prints the arrivals as JSON, for the test of the wires.
 *
 * Rule: a time-out cannot prove that a datagram is lost. A mark that is sent after it, over the healed wire, does.
 */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { until } from '../../helpers/async.ts'
import { withoutLoader } from '../../helpers/without-loader.ts'
import { inSpace, knownAddress, PORTS } from './host-plan.ts'
import { HostNetwork } from './host-network.ts'
import { ENTRY } from './private-host.ts'
import { runCommands } from './run-command.ts'

const PROBE = fileURLToPath(new URL('wire-probe.ts', import.meta.url))
const DATAGRAMS = 100

class Probe {
  readonly answer: string[] = []
  readonly #host: number
  readonly #process: ChildProcessWithoutNullStreams

  constructor(host: number) {
    const command = inSpace(host, [process.execPath, PROBE, knownAddress(host), `${PORTS.peer}`])
    this.#host = host
    this.#process = spawn(...withoutLoader(...command), { stdio: ['pipe', 'pipe', 'pipe'] })
    createInterface(this.#process.stdout).on('line', (line) => this.answer.push(line))
  }

  async ready(): Promise<void> {
    await until(`the probe of host ${this.#host} stands`, () => this.answer.includes('ready'))
  }

  send(count: number, to: number, text: string): void {
    this.#process.stdin.write(`send ${count} ${knownAddress(to)} ${text}\n`)
  }

  /** Milliseconds. */
  async echo(to: number): Promise<number> {
    const before = this.answer.length
    this.#process.stdin.write(`echo ${knownAddress(to)}\n`)
    let line: string | undefined
    await until(`host ${this.#host} receives its echo`, () => {
      line = this.answer.slice(before).find((one) => one.startsWith('echoed '))
      return line !== undefined
    })
    return Number(line?.split(' ')[1])
  }
}

await runCommands(ENTRY)
const network = new HostNetwork()
for (let host = 1; host <= 3; host += 1) await network.addHost()
const probes = new Map(network.hosts.map((host) => [host, new Probe(host)]))
for (const probe of probes.values()) await probe.ready()
const ways = network.hosts.flatMap((from) =>
  network.hosts.filter((to) => to !== from).map((to) => ({ from, to })),
)

/** Over every way, until it arrives. */
async function mark(text: string): Promise<void> {
  for (const { from, to } of ways)
    await until(`${text} arrives`, () => {
      const seen = probes.get(to)?.answer.includes(`got ${text}${from}`) === true
      if (!seen) probes.get(from)?.send(1, to, `${text}${from}`)
      return seen
    })
}

/** How many datagrams arrived over each way: `1>2`. */
async function arrivals(name: string, disturb: () => Promise<void>): Promise<Record<string, number>> {
  await mark(`before-${name}-`)
  await disturb()
  for (const { from, to } of ways) probes.get(from)?.send(DATAGRAMS, to, `${name}-${from}`)
  // A round trip over the standard input of each: they have sent.
  for (const from of network.hosts) await probes.get(from)?.echo(from)
  await network.heal()
  await mark(`after-${name}-`)
  return Object.fromEntries(
    ways.map(({ from, to }) => [
      `${from}>${to}`,
      probes.get(to)?.answer.filter((line) => line === `got ${name}-${from}`).length ?? 0,
    ]),
  )
}

const report = {
  nothing: await arrivals('nothing', () => Promise.resolve()),
  cut: await arrivals('cut', () => network.dropBoth({ a: 1, b: 2 })),
  oneWay: await arrivals('one-way', () => network.drop({ from: 1, to: 2 })),
  loss: await arrivals('loss', () => network.dropBoth({ a: 2, b: 3 }, 50)),
  delayedMs: 0,
  healedMs: 0,
}
await network.delay({ a: 1, b: 3 }, 100)
report.delayedMs = (await probes.get(1)?.echo(3)) ?? 0
await network.heal()
report.healedMs = (await probes.get(1)?.echo(3)) ?? 0
process.stdout.write(`${JSON.stringify(report)}\n`)
process.exit(0)
