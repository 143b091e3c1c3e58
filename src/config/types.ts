/**
 * The effective configuration of one node: bounded, frozen, typed. Times in ms, sizes in bytes.
 *
 * Owns: the shape. Names follow the configuration file with its sections; see settings.ts for units, bounds and defaults.
 */
import type { Member } from '../../cluster/index.ts'

/** Absolute paths. */
export interface ListenerTlsFiles {
  readonly cert: string
  readonly key: string
}

export interface Config {
  readonly node: {
    readonly id: string
    readonly dataDir: string
    readonly zone: string
    /** Null: the first folder in memory that this machine has. */
    readonly witnessDir: string | null
  }
  readonly cluster: {
    readonly id: string
    readonly members: readonly Member[]
    readonly heartbeatMs: number
    readonly electionTimeoutMs: number
    readonly logKeepEntries: number
    readonly logKeepBytes: number
    readonly logPinBytes: number
    readonly collectAfterMs: number
    readonly promoteAfterMs: number
    /** For the doctor: nothing in a node depends on it. */
    readonly clockSkewMaxMs: number
  }
  /** Used share of the disk of the blobs from which each holds, above 0 and at most 1, in rising order. */
  readonly disk: { readonly stopPlacing: number; readonly stopWriting: number; readonly reserve: number }
  readonly repair: { readonly scrubEveryMs: number }
  readonly listeners: {
    /** host:port each */
    readonly data: string
    readonly admin: string
    readonly peer: string
    /** Where clients reach the data API, without a slash at the end; null: where it listens. */
    readonly publicUrl: string | null
  }
  readonly peerTls: { readonly ca: string; readonly cert: string; readonly key: string } | null
  /** null: plain HTTP. */
  readonly dataTls: ListenerTlsFiles | null
  readonly adminTls: ListenerTlsFiles | null
  readonly security: {
    readonly masterKeyFile: string
    readonly nativeApiTokenTtlMs: number
    readonly maxPresignTtlMs: number
  }
  readonly content: {
    /** What new chunks may become: `zstd` where that pays. */
    readonly compression: 'none' | 'zstd'
    /** 0: by the cores. */
    readonly sealingThreads: number
  }
  readonly audit: { readonly keepMs: number; readonly strict: boolean; readonly spoolBytesMax: number }
  readonly notifications: {
    readonly allowHttp: boolean
    /** As `URL.origin` spells them. */
    readonly allowOrigins: readonly string[]
  }
  readonly metrics: { readonly public: boolean }
  readonly logging: { readonly level: 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | 'silent' }
  readonly limits: {
    /** Bodies up to this size travel inside the log. */
    readonly inlineBytesMax: number
    readonly objectPutBytesMax: number
    readonly multipartExpiresAfterMs: number
    readonly bucketsPerTenantMax: number
    readonly tokenMintPerMinute: number
    readonly tokenMintBurst: number
    readonly adminRequestsPerMinute: number
    readonly adminRequestsBurst: number
    /** 4 MiB chunk buffers that all uploads of this node may hold together. */
    readonly chunkBuffersMax: number
    /** Of each public listener. */
    readonly connectionsMax: number
    /** 0: a body may come as slowly as it likes. */
    readonly bodyBytesPerMinuteMin: number
  }
}
