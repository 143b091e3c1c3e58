/**
 * The power fails at every change of the disk of a node, and after every step of shipping its rows into the log.
 *
 * What must hold: every row that was confirmed as durable is in the log once, and in the order in which it was written;
 * an unconfirmed row is there once or not at all; the chain is whole.
 */
import { zstdDecompressSync } from 'node:zlib'
import t from 'tap'
import { Condition } from '../../cluster/index.ts'
import { AuditSpool } from '../../src/audit/audit-spool.ts'
import type { AuditBatch } from '../../src/state-machine/audit/records.ts'
import type { Command } from '../../src/state-machine/commands.ts'
import type { Propose } from '../../src/commands/propose.ts'
import { AuditShipping } from '../../src/workers/audit-shipping.ts'
import { auditRow, SPOOL_DIR, spoolFilesOn } from '../helpers/audit-disk.ts'
import { recordingLogger } from '../helpers/loggers.ts'
import { links } from '../state-machine/audit-world.ts'
import { MapWorld } from '../state-machine/map-world.ts'
import { LOSE_ALL, MemoryFiles, type PowerCut } from '../wal/memory-files.ts'

class PowerLoss extends Error {}

const KEEP_ALL: PowerCut = { names: 99, keeps: () => true, keepsLength: true }
const KEEP_EVEN: PowerCut = { names: 99, keeps: (position) => position % 2 === 0, keepsLength: true }

interface Life {
  disk: MemoryFiles
  /** The power is off: no later action of the process has an effect. */
  isOff: boolean
  readonly world: MapWorld
  readonly promised: Set<string>
  readonly written: string[]
}

/** The life of one process: it appends rows, waits for some, and ships some into the log. */
async function live(life: Life, name: string, fault: 'none' | 'lost reply' | 'no quorum'): Promise<void> {
  const spool = await AuditSpool.open({
    dir: SPOOL_DIR,
    isStrict: false,
    bytesMax: 2 ** 28,
    logger: recordingLogger([]),
    files: spoolFilesOn(life.disk),
    later: () => {},
  })
  let proposals = 0
  const propose = async (command: Command) => {
    if (life.isOff) throw new PowerLoss()
    if (fault === 'no quorum') throw new Condition('no_quorum', 'Nothing was committed')
    const reply = life.world.run(command)
    // Committed, and the node dies before it receives the reply.
    if (++proposals === 2 && fault === 'lost reply') throw new PowerLoss()
    return reply
  }
  const parts = { node: 'n1', spools: [spool], state: life.world, propose: propose as Propose }
  const shipping = new AuditShipping({ ...parts, logger: recordingLogger([]) })
  for (let n = 0; n < 6; n++) {
    const id = `${name}-${n}`
    life.written.push(id)
    spool.append(auditRow(id))
    if (n % 2 === 1) {
      await spool.durable()
      if (life.isOff) throw new PowerLoss()
      for (const before of life.written) if (before.startsWith(`${name}-`)) life.promised.add(before)
    }
    if (n === 3) await round(shipping)
  }
  while ((await spool.oldest()) !== null && (await round(shipping))) {}
}

/** False: there is no quorum; the same process or another tries again later. */
async function round(shipping: AuditShipping): Promise<boolean> {
  try {
    await shipping.round()
    return true
  } catch (error) {
    if (error instanceof Condition) return false
    throw error
  }
}

function reported(world: MapWorld): string[] {
  return links(world).flatMap(({ text, packed }) => {
    const { count } = JSON.parse(text) as AuditBatch
    const rows = zstdDecompressSync(packed ?? new Uint8Array())
      .toString()
      .split('\n')
    if (rows.length !== count) throw new Error('a batch holds as many rows as its count')
    return rows.map((row) => String(JSON.parse(row).requestId))
  })
}

/** Returns false if the script ended before that change. */
async function crashAt(
  change: number,
  cut: PowerCut,
  loseReply: boolean,
): Promise<Life & { readonly crashed: boolean }> {
  const life: Life = {
    disk: new MemoryFiles(),
    isOff: false,
    world: new MapWorld(),
    promised: new Set(),
    written: [],
  }
  let changes = 0
  life.disk.beforeChange = () => {
    if (life.isOff || ++changes >= change) {
      life.isOff = true
      throw new PowerLoss()
    }
  }
  await live(life, 'first', loseReply ? 'lost reply' : 'none').catch(() => (life.isOff = true))
  const crashed = life.isOff
  life.isOff = false
  life.disk = life.disk.afterPowerCut(cut)
  await live(life, 'second', 'no quorum')
  life.disk = life.disk.afterPowerCut(LOSE_ALL)
  await live(life, 'third', 'none')
  return { ...life, crashed }
}

t.test(
  'no confirmed row is lost and none is recorded twice, at every point of a power failure',
  async (t) => {
    for (const [name, cut] of Object.entries({ LOSE_ALL, KEEP_ALL, KEEP_EVEN }))
      for (const loseReply of [false, true])
        for (let change = 1; ; change++) {
          const { crashed, world, promised, written } = await crashAt(change, cut, loseReply)
          const rows = reported(world)
          const at = `${name}, change ${change}, reply ${loseReply ? 'lost' : 'received'}`
          const lost = [...promised].filter((id) => !rows.includes(id))
          if (lost.length > 0) t.fail(`${at}: lost ${lost.join()}`)
          if (new Set(rows).size !== rows.length) t.fail(`${at}: recorded twice: ${rows.join()}`)
          const inOrder = written.filter((id) => rows.includes(id))
          if (inOrder.join() !== rows.join()) t.fail(`${at}: out of order: ${rows.join()}`)
          if (!crashed || change > 40) {
            t.ok(change > 8, `${at}: ${change} places`)
            break
          }
          if (loseReply && change > 20) break
        }
  },
)
