/**
 * A damaged node among others as the service runs them: LevelDB, log files, sockets, the real clock.
 */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { encodeCommand } from '../../src/commands/command-codec.ts'
import { until } from '../helpers/async.ts'
import { createTenant } from '../state-machine/map-world.ts'
import { SocketNodes } from './socket-nodes.ts'

/** Flips one bit where the log first says `text`. */
function flipInLog(dir: string, text: string): void {
  for (const path of readdirSync(dir).map((name) => join(dir, name))) {
    const bytes = readFileSync(path)
    const at = bytes.indexOf(text)
    if (at < 0) continue
    bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at)
    writeFileSync(path, bytes)
    return
  }
  assert.fail(`the log says ${text}`)
}

t.test(
  'a node with a quarantined state and a damaged log repairs itself and is equal to the others',
  async (t) => {
    const nodes = await SocketNodes.start(t)
    const tenants = Array.from({ length: 60 }, (_, i) => encodeCommand(createTenant(`tenant-${i}`)))
    await Promise.all(tenants.map((command, i) => nodes.node(`n${(i % 3) + 1}`).cluster.propose(command)))

    const { cluster, machine } = nodes.node('n1')
    await cluster.stop()
    await machine.quarantine('a reader found a row that differs from what was written')
    flipInLog(join(nodes.root, 'n1', 'raft'), 'tenant-30')
    await nodes.node('n2').cluster.propose(encodeCommand(createTenant('while-it-was-away')))

    const again = await nodes.start('n1')
    await until('the node is repaired', () => again.cluster.readiness().ready)
    const reported = again.lines.filter(({ level }) => level === 'warn').map(({ message }) => message)
    t.match(reported[0], /The state of this node cannot be used \(a reader found/)
    t.match(reported.join(), /Damaged entries of the log are dropped: the state holds them/)
    await again.cluster.readBarrier()
    await again.cluster.propose(encodeCommand(createTenant('after')))
    t.equal(new Set(await nodes.sums()).size, 1, 'one state')
    t.equal(await again.machine.verify(), null)
  },
)
