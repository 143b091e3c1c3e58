/**
 * A StateMachine as another thread would see it: what crosses its port is cloned as a message between threads clones it.
 *
 * Owns: the clones. Rule: a function, a class or a method of Buffer that one side needs of the other shows as a failure here; only
 * errors pass as they are. [docs/adr/0067]
 */
import type { StateBlockRequest, StateCut, StateMachine, StateSource } from '../../cluster/base/types.ts'
import type { StateMachinePlace } from '../port-suites/state-machine.ts'

/** What is cloned has no methods; each call of a source is a message of its own. */
function crossedSource(source: StateSource): StateSource {
  const { record, checksum } = source
  return {
    ...structuredClone({ record, checksum }),
    block: async (request: StateBlockRequest) =>
      structuredClone(await source.block(structuredClone(request))),
  }
}

function crossedCut(cut: StateCut): StateCut {
  return { ...crossedSource(cut), release: () => cut.release() }
}

function crossedStateMachine(machine: StateMachine): StateMachine {
  return {
    open: async (onDamaged) => structuredClone(await machine.open(onDamaged)),
    apply: async (batch) => structuredClone(await machine.apply(structuredClone(batch))),
    ...(machine.cost === undefined
      ? {}
      : { cost: (command: Uint8Array) => machine.cost?.(structuredClone(command)) ?? 0 }),
    checkpoint: () => machine.checkpoint(),
    checksum: () => structuredClone(machine.checksum()),
    verify: () => machine.verify(),
    quarantine: (why) => machine.quarantine(why),
    snapshot: async () => crossedCut(await machine.snapshot()),
    install: async (source) => structuredClone(await machine.install(crossedSource(source))),
    close: () => machine.close(),
  }
}

/** The same place, seen from another thread. */
export function crossedPlace(place: StateMachinePlace): StateMachinePlace {
  const machines = new WeakMap<StateMachine, StateMachine>()
  return {
    ...place,
    machine(options) {
      const machine = place.machine(options)
      const crossed = crossedStateMachine(machine)
      machines.set(crossed, machine)
      return crossed
    },
    cut: () => crossedPlace(place.cut()),
    damage: async (crossed) => place.damage(machines.get(crossed) ?? crossed),
  }
}
