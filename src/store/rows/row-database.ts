/**
 * A LevelDB directory with the value files beside it.
 *
 * Owns: opening both, single rows in their full form, snapshots that keep the value files they lead to. Knows nothing of: what rows mean.
 * Rule: iterators show what LevelDB holds, which may be a pointer; a walk over rows that may be separated follows it (state-rows.ts).
 */
import { Level } from 'level'
import { ValueFiles } from '../values/value-files.ts'
import { levelSizes, memoryOfProcess } from './level-sizes.ts'
import { type BatchOperation, SeparatedRows } from './separated-rows.ts'

export type DatabaseSnapshot = ReturnType<Level<Buffer, Buffer>['snapshot']>

interface KeyRangeOptions<K> {
  readonly gt?: K
  readonly gte?: K
  readonly lt?: K
  readonly lte?: K
  readonly reverse?: boolean
  readonly limit?: number
}

export interface RowWalkOptions<K> extends KeyRangeOptions<K> {
  readonly keyEncoding?: 'utf8' | 'buffer'
  readonly highWaterMarkBytes?: number
  readonly fillCache?: boolean
  readonly snapshot?: DatabaseSnapshot
}

export interface RowIterator<K> extends AsyncIterable<[K, Buffer]> {
  nextv(count: number): Promise<[K, Buffer][]>
  all(): Promise<[K, Buffer][]>
  /** Forward, within the bounds of the walk; beyond them it ends. */
  seek(target: K): void
  close(): Promise<void>
}

export interface RowBatch {
  put(key: Buffer, value: Buffer): unknown
  del(key: Buffer): unknown
  write(options: { readonly sync: boolean }): Promise<void>
}

/** What the state uses of LevelDB. Walks are in the order of keys. Reads throw StateDamagedError for what is found damaged. */
export interface Database {
  readonly rows: SeparatedRows
  readonly status: string
  open(): Promise<void>
  close(): Promise<void>
  /** As LevelDB has it, which may be a pointer. */
  getSync(key: Buffer, options?: { readonly snapshot?: DatabaseSnapshot }): Buffer | undefined
  /** As it was written, not verified. */
  rowAt(key: Buffer, snapshot?: DatabaseSnapshot): Buffer | undefined
  iterator(options: RowWalkOptions<Buffer>): RowIterator<Buffer>
  /** With keys as text. */
  texts(options: RowWalkOptions<string>): RowIterator<string>
  keys(options: KeyRangeOptions<Buffer>): { all(): Promise<Buffer[]> }
  batch(): RowBatch
  batch(operations: BatchOperation[], options: { readonly sync: boolean }): Promise<void>
  snapshot(): DatabaseSnapshot
}

export interface DatabaseOptions {
  /** The directory must not hold a database yet; otherwise it must. */
  readonly create: boolean
  /** Large values may lie beside LevelDB. */
  readonly separates: boolean
  /** Of a value file; absent: the usual size. */
  readonly valueFileBytes?: number
}

/** LevelDB with the sizes that fit this machine. */
export class SizedLevel extends Level<Buffer, Buffer> {
  constructor(location: string, create: boolean) {
    super(location, {
      keyEncoding: 'buffer',
      valueEncoding: 'buffer',
      createIfMissing: create,
      errorIfExists: create,
      ...levelSizes(memoryOfProcess()),
    })
  }
}

export class LevelDatabase extends SizedLevel implements Database {
  readonly rows: SeparatedRows

  constructor(location: string, { create, separates, valueFileBytes }: DatabaseOptions) {
    super(location, create)
    const files = new ValueFiles(location, valueFileBytes)
    this.rows = new SeparatedRows(files, (key) => this.getSync(key), separates)
  }

  rowAt(key: Buffer, snapshot?: DatabaseSnapshot): Buffer | undefined {
    const stored = snapshot === undefined ? this.getSync(key) : this.getSync(key, { snapshot })
    return stored === undefined ? undefined : this.rows.follow(key, stored)
  }

  texts(options: RowWalkOptions<string>): RowIterator<string> {
    return this.iterator<string, Buffer>({ ...options, keyEncoding: 'utf8' })
  }

  override snapshot(): DatabaseSnapshot {
    return pinned(super.snapshot(), this.rows)
  }

  override async close(): Promise<void> {
    await super.close()
    await this.rows.files.close()
  }
}

/** Value files that rows of the snapshot lead to stay until it is closed. */
export function pinned(snapshot: DatabaseSnapshot, rows: SeparatedRows): DatabaseSnapshot {
  const unpin = rows.files.pin()
  const close = snapshot.close.bind(snapshot)
  snapshot.close = async () => {
    unpin()
    await close()
  }
  return snapshot
}
