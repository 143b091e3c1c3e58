/** The long operation is not this node's any more: it ended, was paused, or another node is the job runner. */
export class Abandoned extends Error {}
