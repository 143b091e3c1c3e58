/**
 * The files of an audit spool on a disk in memory that drops unflushed bytes.
 */
import { setImmediate } from 'node:timers/promises'
import { join } from 'node:path'
import type { SpoolFile, SpoolFiles } from '../../src/audit/spool-files.ts'
import type { AuditRow } from '../../src/state-machine/audit/records.ts'
import type { MemoryFiles } from '../wal/memory-files.ts'

export const SPOOL_DIR = join('/', 'audit')

export function spoolFilesOn(disk: MemoryFiles): SpoolFiles {
  // Each call takes a turn of the event loop, as on a real disk.
  const turn = async <T>(work: () => T): Promise<T> => {
    await setImmediate()
    return work()
  }
  const create = (path: string): SpoolFile => {
    const fd = disk.create(path)
    return {
      write: (bytes, position) => turn(() => void disk.write(fd, bytes, position)),
      sync: () => turn(() => disk.fdatasync(fd)),
      close: () => turn(() => disk.close(fd)),
    }
  }
  return {
    makeDir: async () => {},
    list: async (dir) => disk.list(dir),
    size: async (path) => disk.size(path),
    read: async (path, position, bytesMax) =>
      Buffer.from(disk.bytesOf(path).subarray(position, position + bytesMax)),
    create: (path) => turn(() => create(path)),
    unlink: (path) => turn(() => disk.unlink(path)),
    syncDir: (dir) => turn(() => disk.syncDir(dir)),
  }
}

export function auditRow(requestId: string, more: Partial<AuditRow> = {}): AuditRow {
  return {
    time: 1_700_000_000_000,
    requestId,
    api: 'native',
    operation: 'getObject',
    method: 'GET',
    path: '/api/v1/buckets/photos/objects/a',
    tenantId: 'acme',
    actor: { type: 'accessKey', id: 'AKEXAMPLE', role: null },
    bucket: 'photos',
    key: 'a',
    versionId: null,
    status: 200,
    code: null,
    reason: null,
    sourceIp: '192.0.2.7',
    userAgent: null,
    bytesIn: 0,
    bytesOut: 1,
    durationMs: 1,
    nodeId: 'n1',
    details: null,
    ...more,
  }
}
