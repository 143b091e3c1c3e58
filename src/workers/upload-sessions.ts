/**
 * The sessions under which this gateway uploads, and which of their births can still commit.
 *
 * Owns: its sessions, the sequence of births, the low-water mark. Knows nothing of: what is uploaded.
 * Rules: the mark passes an upload only when it is known that none of its births can commit any more; an upload of unknown
 * outcome holds its session back forever, so that session takes no more uploads and is closed, which refuses every upload that
 * is still under way.
 */
import { Condition } from '../../cluster/index.ts'
import type { Upload, UploadOutcome, Uploads } from '../content/uploads.ts'
import { birthOf } from '../state-machine/chunks/births.ts'
import type { Propose } from '../commands/propose.ts'

export interface UploadSessionsOptions {
  readonly nodeId: string
  /** A name for a session that was never given before on this cluster. */
  readonly nextSession: () => string
  readonly propose: Propose
}

/** Older ones beyond this are closed under their uploads, which are then sent again. */
const SESSIONS_KEPT_MAX = 4

interface Session {
  readonly id: string
  next: number
  /** The first birth that each upload under way may have. */
  readonly active: Map<Upload, number>
  /** As committed. */
  lowWater: number
  /** The session takes no more uploads: one had an unknown outcome, or the session was found closed. */
  retired: boolean
  /** The lowest first birth of an upload of unknown outcome. */
  heldAt: number
}

export class UploadSessions implements Uploads {
  readonly #options: UploadSessionsOptions
  #sessions: Session[] = []
  #opening: Promise<Session> | null = null

  constructor(options: UploadSessionsOptions) {
    this.#options = options
  }

  async begin(): Promise<Upload> {
    const session = await this.#usable()
    const upload: Upload = {
      newBirth: () => birthOf(session.id, session.next++),
      end: (outcome) => endUpload(session, upload, outcome),
    }
    session.active.set(upload, session.next)
    return upload
  }

  /** Opens a session ahead of the first upload, which closes those of earlier runs of this node. Throws Condition. */
  async prepare(): Promise<void> {
    await this.#usable()
  }

  /** A session that is closed in the state takes no more uploads. */
  retire(isClosed: (session: string) => boolean): void {
    for (const session of this.#sessions) session.retired ||= isClosed(session.id)
  }

  /** Commits how far uploads have ended, and closes sessions that have only unknown ones left. Throws Condition. */
  async advance(): Promise<void> {
    for (const session of this.#sessions) {
      if (session.retired && session.active.size === 0) await this.#close(session)
      else await this.#advance(session)
    }
  }

  async #usable(): Promise<Session> {
    return this.#sessions.findLast(({ retired }) => !retired) ?? (await this.#open())
  }

  /** One at a time: a caller that comes meanwhile waits for the same one. */
  #open(): Promise<Session> {
    this.#opening ??= this.#openNext().finally(() => {
      this.#opening = null
    })
    return this.#opening
  }

  async #openNext(): Promise<Session> {
    const { nodeId, nextSession, propose } = this.#options
    const kept = this.#sessions.slice(-SESSIONS_KEPT_MAX)
    const id = nextSession()
    const keep = kept.map((session) => session.id)
    const reply = await propose({ type: 'openSession', session: id, node: nodeId, keep })
    if (!reply.ok) throw new Condition('slow_down', `Cannot upload: ${reply.message}`)
    const session: Session = {
      id,
      next: 0,
      active: new Map(),
      lowWater: 0,
      retired: false,
      heldAt: Infinity,
    }
    this.#sessions = [...kept, session]
    return session
  }

  async #advance(session: Session): Promise<void> {
    const lowWater = lowWaterOf({ ...session, active: session.active.values() })
    if (lowWater <= session.lowWater) return
    const reply = await this.#options.propose({ type: 'advanceSession', session: session.id, lowWater })
    if (reply.ok) session.lowWater = lowWater
  }

  async #close(session: Session): Promise<void> {
    await this.#options.propose({ type: 'closeSession', session: session.id })
    this.#sessions = this.#sessions.filter((other) => other !== session)
  }
}

/** Below it no birth of the session can commit any more. */
export function lowWaterOf(session: {
  readonly next: number
  readonly heldAt: number
  readonly active: Iterable<number>
}): number {
  return Math.min(session.next, session.heldAt, ...session.active)
}

function endUpload(session: Session, upload: Upload, outcome: UploadOutcome): void {
  const first = session.active.get(upload)
  if (first === undefined) return
  session.active.delete(upload)
  if (outcome === 'known') return
  session.heldAt = Math.min(session.heldAt, first)
  session.retired = true
}
