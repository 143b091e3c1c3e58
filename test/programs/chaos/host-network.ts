/**
 * Hosts joined by wires that can be cut, in either direction, made lossy and made slow.
 *
 * Owns: which filters and proxies are in place. Knows nothing of: nodes, times.
 * Rule: every disturbance is ended by `heal`, in any state.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { withoutLoader } from '../../helpers/without-loader.ts'
import type { Forwarding } from './delay-proxy.ts'
import {
  dropCommand,
  hostCommands,
  HOSTS_EVER_MAX,
  inSpace,
  knownAddress,
  type Pair,
  passCommand,
  PORTS,
  removeCommands,
  standInCommand,
  type Way,
  wireAddress,
  wireCommands,
} from './host-plan.ts'
import { runCommand, runCommands } from './run-command.ts'

const PROXY = fileURLToPath(new URL('delay-proxy.ts', import.meta.url))

interface StandIn {
  readonly way: Way
  readonly proxy: ChildProcess
}

export class HostNetwork {
  #hosts: readonly number[] = []
  #last = 0
  #dropping: Way[] = []
  #standIns: StandIn[] = []

  get hosts(): readonly number[] {
    return this.#hosts
  }

  /** One more host, wired to the hub and to all others. */
  async addHost(): Promise<number> {
    if (this.#last >= HOSTS_EVER_MAX)
      throw new Error(`There are no more than ${HOSTS_EVER_MAX} hosts in a run`)
    this.#last += 1
    const host = this.#last
    await runCommands(hostCommands(host))
    for (const other of this.#hosts) await runCommands(wireCommands({ a: other, b: host }))
    this.#hosts = [...this.#hosts, host]
    return host
  }

  /** Removes the host: nothing runs on it any more, and nothing is disturbed. */
  async removeHost(host: number): Promise<void> {
    this.#hosts = this.#hosts.filter((other) => other !== host)
    await runCommands(removeCommands(host))
  }

  /** All or some packets in this direction are lost, without notice. */
  async drop(way: Way, percent = 100): Promise<void> {
    this.#dropping.push(way)
    await runCommand(dropCommand(way, percent))
  }

  async dropBoth({ a, b }: Pair, percent = 100): Promise<void> {
    await this.drop({ from: a, to: b }, percent)
    await this.drop({ from: b, to: a }, percent)
  }

  /** Connections break now; new ones are slow, in both directions and from either side. */
  async delay({ a, b }: Pair, delayMs: number): Promise<void> {
    await this.#standIn({ from: a, to: b }, delayMs)
    await this.#standIn({ from: b, to: a }, delayMs)
  }

  async heal(): Promise<void> {
    const [dropping, standIns] = [this.#dropping, this.#standIns]
    this.#dropping = []
    this.#standIns = []
    for (const way of dropping) await runCommand(passCommand(way))
    for (const { way, proxy } of standIns) {
      const ended = once(proxy, 'exit')
      if (proxy.exitCode === null && proxy.kill('SIGKILL')) await ended
      await runCommand(standInCommand('del', way))
    }
  }

  /** On the host `from`: it acts as `to`, and accepts the traffic of the proxy for `from` on the other host. */
  async #standIn(way: Way, delayMs: number): Promise<void> {
    const { from, to } = way
    await runCommand(standInCommand('add', way))
    const forwardings: readonly Forwarding[] = [
      {
        from: { host: knownAddress(to), port: PORTS.peer },
        to: { host: wireAddress({ at: to, other: from }), port: PORTS.standIn },
        delayMs,
      },
      {
        from: { host: wireAddress({ at: from, other: to }), port: PORTS.standIn },
        to: { host: knownAddress(from), port: PORTS.peer },
        delayMs: 0,
      },
    ]
    const command = inSpace(from, [process.execPath, PROXY, JSON.stringify(forwardings)])
    const proxy = spawn(...withoutLoader(...command), { stdio: ['ignore', 'pipe', 'inherit'] })
    this.#standIns.push({ way, proxy })
    await Promise.race([once(proxy.stdout, 'data'), once(proxy, 'exit')])
    if (proxy.exitCode !== null) throw new Error(`The stand-in for ${knownAddress(to)} ended at once`)
  }
}
