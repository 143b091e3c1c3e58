/**
 * Judges the machine: Node.js, limits, memory.
 *
 * Owns: the judgement and its limits. Knows nothing of: /proc.
 */
import { error, type Finding, warning, well } from './finding.ts'

export interface MachineFacts {
  /** Of Node.js. */
  readonly nodeVersion: string
  /** The process of the limits: `the node`, or `this command`, whose limits can differ from those of the service. */
  readonly whose: string
  readonly openFilesMax: number | null
  readonly memoryBytes: number
  /** Soft limit; null: unknown. */
  readonly coreBytesMax: number | null
  /** Bytes in use; null: unknown. */
  readonly swapUsedBytes: number | null
}

/** The same as in package.json. */
export const NODE_VERSION_MIN = '24.12.0'
const OPEN_FILES_MIN = 4096
const MIB = 1024 ** 2
const MEMORY_BYTES_MIN = 512 * MIB

export function checkMachine(facts: MachineFacts): readonly Finding[] {
  return [checkNodeVersion(facts), checkOpenFiles(facts), checkMemory(facts), checkKeysInMemory(facts)]
}

function checkNodeVersion({ nodeVersion }: MachineFacts): Finding {
  if (!isBefore(nodeVersion, NODE_VERSION_MIN)) return well('node_version', `Node.js ${nodeVersion}`)
  return error('node_version', {
    found: `Node.js ${nodeVersion}`,
    expected: `Node.js ${NODE_VERSION_MIN} or newer`,
    action: 'Install Node.js 24, or run through npm, which brings its own.',
  })
}

function isBefore(version: string, other: string): boolean {
  const [a, b] = [version, other].map((text) => text.split('.').map(Number))
  const at = a?.findIndex((part, n) => part !== b?.[n]) ?? -1
  return at >= 0 && (a?.[at] ?? 0) < (b?.[at] ?? 0)
}

function checkOpenFiles({ openFilesMax, whose }: MachineFacts): Finding {
  if (openFilesMax === null || openFilesMax >= OPEN_FILES_MIN)
    return well(
      'open_files',
      openFilesMax === null ? 'this system does not report it' : `${whose} may have ${openFilesMax} open`,
    )
  return warning('open_files', {
    found: `${whose} may have ${openFilesMax} files and connections open`,
    expected: `at least ${OPEN_FILES_MIN}`,
    action:
      'Raise the limit of the service (LimitNOFILE= of systemd, ulimit -n, --ulimit nofile of containers).',
  })
}

function checkMemory({ memoryBytes }: MachineFacts): Finding {
  const found = `${Math.floor(memoryBytes / MIB)} MiB of memory`
  if (memoryBytes >= MEMORY_BYTES_MIN) return well('memory', found)
  return warning('memory', {
    found,
    expected: `at least ${MEMORY_BYTES_MIN / MIB} MiB`,
    action: 'Give the machine or the container more memory.',
  })
}

function checkKeysInMemory({ coreBytesMax, swapUsedBytes, whose }: MachineFacts): Finding {
  const ways: string[] = []
  if (coreBytesMax !== null && coreBytesMax > 0) ways.push(`core files of ${whose} are written`)
  if (swapUsedBytes !== null && swapUsedBytes > 0) ways.push('swap is in use')
  if (ways.length === 0) return well('keys_in_memory', 'no core files, and nothing in swap')
  return warning('keys_in_memory', {
    found: `${ways.join(', and ')}: keys in memory can be written to a disk unencrypted`,
    expected: 'no core files (limit 0) and no swap, or both on an encrypted disk',
    action:
      'If that matters to you, set the limit of core files to 0 (LimitCORE=0, ulimit -c 0), and encrypt swap or switch it off.',
  })
}
