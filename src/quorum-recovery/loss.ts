/**
 * The loss caused by dead nodes, computed from the survivors: chunks without a copy, and the versions and segments of the
 * audit log that need one of them.
 *
 * Owns: the comparison of rows with disks. Knows nothing of: votes, terms, entries that no survivor has.
 * Rules: a copy counts when the winner's rows list it and the disk of that survivor has it. Lost versions are named up to NAMED_MAX, and
 * only counted beyond it.
 */
import { CopySet } from './copy-set.ts'
import type { InventoryLine } from './inventory.ts'

/** The most versions that a plan names. */
export const NAMED_MAX = 100_000

export interface LostVersion {
  readonly tenantId: string
  readonly bucket: string
  readonly key: string
  /** As clients know it. */
  readonly versionId: string
}

/** Rows of the audit log that were recorded between two times, ms since 1970. */
export interface LostAuditRows {
  readonly firstTime: number
  readonly lastTime: number
  readonly rows: number
}

export interface LossStatement {
  /** Referenced chunks, by the number of copies that are left. */
  readonly copiesLeft: Readonly<Record<string, number>>
  readonly chunks: number
  readonly versions: number
  readonly named: readonly LostVersion[]
  /** Segments of the audit log, the oldest first; at most NAMED_MAX. */
  readonly auditRows: readonly LostAuditRows[]
}

export type Inventory = () => AsyncIterable<InventoryLine>

/** `inventories`: of all survivors, by name. */
export async function lossOf(
  winner: string,
  inventories: ReadonlyMap<string, Inventory>,
): Promise<LossStatement> {
  const disks = new Map<string, CopySet>()
  for (const [node, inventory] of inventories) disks.set(node, await copiesIn(inventory()))
  const rows = inventories.get(winner)
  if (rows === undefined) throw new Error(`there is no inventory of ${winner}`)
  const found = await lostIn(rows(), disks)
  // Rows of objects come before those of their parts, so the lost bodies are known only after a complete walk.
  const auditRows = await lostAuditRows(rows(), found.chunks)
  return { ...found.counted, ...(await named(rows(), found.bodies)), auditRows }
}

async function copiesIn(lines: AsyncIterable<InventoryLine>): Promise<CopySet> {
  const copies = new CopySet()
  for await (const line of lines) {
    if (line[0] !== 'copy') break
    copies.add(line[1])
  }
  return copies
}

async function lostIn(lines: AsyncIterable<InventoryLine>, disks: ReadonlyMap<string, CopySet>) {
  const copiesLeft: Record<string, number> = {}
  const chunks = new Set<string>()
  const bodies = new Set<string>()
  for await (const line of lines) {
    if (line[0] === 'chunk') {
      const [, id, birth, replicas] = line
      const left = replicas.filter((node) => disks.get(node)?.has(`${id}.${birth}`) === true).length
      copiesLeft[left] = (copiesLeft[left] ?? 0) + 1
      if (left === 0) chunks.add(id)
    }
    if (line[0] === 'body' && line[3].some((id) => chunks.has(id))) bodies.add(nameOf(line[1], line[2]))
    if (line[0] === 'parts' && line[3].some((body) => bodies.has(nameOf(line[1], body))))
      bodies.add(nameOf(line[1], line[2]))
  }
  return { counted: { copiesLeft, chunks: chunks.size }, chunks, bodies }
}

async function lostAuditRows(
  lines: AsyncIterable<InventoryLine>,
  chunks: ReadonlySet<string>,
): Promise<readonly LostAuditRows[]> {
  const lost: LostAuditRows[] = []
  if (chunks.size === 0) return lost
  for await (const line of lines) {
    if (line[0] !== 'audit' || !chunks.has(line[4]) || lost.length === NAMED_MAX) continue
    const [, firstTime, lastTime, rows] = line
    lost.push({ firstTime, lastTime, rows })
  }
  return lost
}

async function named(
  lines: AsyncIterable<InventoryLine>,
  bodies: ReadonlySet<string>,
): Promise<Pick<LossStatement, 'versions' | 'named'>> {
  const lost: LostVersion[] = []
  const buckets = new Map<string, { readonly tenantId: string; readonly bucket: string }>()
  let versions = 0
  if (bodies.size === 0) return { versions, named: lost }
  for await (const line of lines) {
    if (line[0] === 'bucket') buckets.set(line[1], { tenantId: line[2], bucket: line[3] })
    if (line[0] !== 'version' || !bodies.has(nameOf(line[1], line[3]))) continue
    const [, bucketId, key, versionId, isNull] = line
    versions++
    const place = buckets.get(bucketId) ?? { tenantId: '', bucket: bucketId }
    if (versions <= NAMED_MAX) lost.push({ ...place, key, versionId: isNull ? 'null' : versionId })
  }
  return { versions, named: lost }
}

function nameOf(bucketId: string, bodyId: string): string {
  return `${bucketId}/${bodyId}`
}
