/**
 * A slow disk or one that fails to read, inside a node: `node --import disk-faults.ts`, in every thread.
 *
 * Owns: the calls of node:fs that are wrapped. Knows nothing of: LevelDB, which makes system calls of its own.
 * Rule: the file named by HOLDFAST_DISK_FAULTS holds the present faults as JSON; a missing or empty file: no fault.
 */
import * as fs from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { createRequire, syncBuiltinESMExports } from 'node:module'

export interface DiskFaults {
  /** Extra time of each flush. ms */
  readonly flushMs?: number
  /** Reads below a path that contains this text fail with EIO. */
  readonly unreadable?: string
  /** No file below a path that contains this text opens any more, and no open one flushes: EIO. The files of LevelDB alone are as before. */
  readonly broken?: string
  /** Only this part of the file. Bytes. */
  readonly part?: { readonly from: number; readonly end: number }
}

const file = process.env['HOLDFAST_DISK_FAULTS'] ?? ''
const require = createRequire(import.meta.url)
const real = { ...fs }
const system = require('node:fs') as { -readonly [K in keyof typeof fs]: (typeof fs)[K] }
/** The path of each open file of this thread. */
const paths = new Map<number, string>()
const cell = new Int32Array(new SharedArrayBuffer(4))

function faults(): DiskFaults {
  try {
    return JSON.parse(real.readFileSync(file, 'utf8')) as DiskFaults
  } catch {
    return {}
  }
}

function failReading(path: string, from = 0, length = Infinity): void {
  const { unreadable, part } = faults()
  if (unreadable === undefined || !String(path).includes(unreadable) || path === file) return
  if (part !== undefined && (from >= part.end || from + length <= part.from)) return
  throw Object.assign(new Error(`EIO: i/o error, read '${path}'`), {
    code: 'EIO',
    errno: -5,
    syscall: 'read',
  })
}

system.fdatasyncSync = (fd) => {
  Atomics.wait(cell, 0, 0, faults().flushMs ?? 0)
  real.fdatasyncSync(fd)
}
system.openSync = (path, flags, mode) => {
  const fd = real.openSync(path, flags, mode)
  paths.set(fd, String(path))
  return fd
}
system.readSync = ((fd: number, bytes: NodeJS.ArrayBufferView, ...rest: [number, number, number]) => {
  const [, length, position] = rest
  failReading(paths.get(fd) ?? '', position, length)
  return real.readSync(fd, bytes, ...rest)
}) as typeof fs.readSync
const { readFile } = system.promises
system.promises.readFile = (async (path: string, ...rest: [undefined]) => {
  failReading(path)
  return readFile(path, ...rest)
}) as typeof readFile
/** The path of each open file handle. */
const handles = new WeakMap<object, string>()
function failIfBroken(path: string): void {
  const text = faults().broken
  if (text === undefined || !path.includes(text)) return
  throw Object.assign(new Error(`EIO: i/o error, open '${path}'`), {
    code: 'EIO',
    errno: -5,
    syscall: 'open',
  })
}
const { open: reallyOpen } = system.promises
system.promises.open = (async (path: string, ...rest: [string]) => {
  failIfBroken(String(path))
  const opened = await reallyOpen(path, ...rest)
  handles.set(opened, String(path))
  return opened
}) as typeof reallyOpen
syncBuiltinESMExports()

const handle = await open(process.execPath)
const prototype = Object.getPrototypeOf(handle) as FileHandle
await handle.close()
const datasync = Reflect.get(prototype, 'datasync') as (this: FileHandle) => Promise<void>
prototype.datasync = async function slowly(this: FileHandle): Promise<void> {
  failIfBroken(handles.get(this) ?? '')
  await new Promise((resolve) => setTimeout(resolve, faults().flushMs ?? 0))
  return datasync.call(this)
}
