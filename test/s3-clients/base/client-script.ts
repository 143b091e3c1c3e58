/**
 * What a script of a client is: which ways to start the client this machine has, and the round trip of each.
 */
import type { Stage } from './stage.ts'

export interface FoundClient {
  /** As the program or package states it. */
  readonly version: string
  /** Throws StepFailed after a step that failed, unless the stage keeps going. */
  play(stage: Stage): Promise<void>
}

export interface ClientScript {
  readonly name: string
  /** Empty: it is not on this machine. */
  readonly find: () => readonly FoundClient[]
  /** What to install, for the reason of a skip. */
  readonly absence: string
}
