/**
 * Reads limits and memory of the running node, or without one of this process.
 *
 * Rule: a value that this system does not report is unknown, never a finding.
 */
import { readFile } from 'node:fs/promises'
import { totalmem } from 'node:os'
import type { MachineFacts } from './machine-checks.ts'

/** `pid`: the process of the limits; null: this process. */
export async function machineFacts(pid: number | null): Promise<MachineFacts> {
  const limits = await textOf(`/proc/${pid ?? 'self'}/limits`)
  const memory = await textOf('/proc/meminfo')
  return {
    nodeVersion: process.versions.node,
    whose: pid === null ? 'this command' : 'the node',
    openFilesMax: softLimit(limits, 'Max open files'),
    memoryBytes: memoryBytes(),
    coreBytesMax: softLimit(limits, 'Max core file size'),
    swapUsedBytes: swapUsed(memory),
  }
}

/** The limit of the container around this process, if it is less than the memory of the machine. */
function memoryBytes(): number {
  const limit = process.constrainedMemory()
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem()
}

async function textOf(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch {
    // Not Linux, or a process of another user.
    return ''
  }
}

/** `Max open files            1024                 4096                 files`: the first number. */
export function softLimit(limits: string, name: string): number | null {
  const line = limits.split('\n').find((each) => each.startsWith(name))
  const word = line?.slice(name.length).trim().split(/\s+/)[0]
  if (word === undefined) return null
  return word === 'unlimited' ? Number.MAX_SAFE_INTEGER : Number(word)
}

export function swapUsed(meminfo: string): number | null {
  const kib = (name: string): number =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(meminfo)?.[1] ?? Number.NaN)
  const used = (kib('SwapTotal') - kib('SwapFree')) * 1024
  return Number.isNaN(used) ? null : used
}
