interface Ordered {
  readonly subject: string;
  /** Its place in the order of the subject. Deliveries passed to `add` are sorted by it. */
  readonly position: string;
}

interface Queue<T> {
  readonly waiting: T[];
  isSending: boolean;
}

/**
 * The claimed deliveries of several subjects. One delivery per subject is in flight at a time, in order. A subject stays claimed
 * until the results of its deliveries are written; before that, the database would return them again.
 */
export class SubjectsInHand<T extends Ordered> {
  private readonly queues = new Map<string, Queue<T>>();
  /** Released subjects whose last result is not yet written, each with that delivery. */
  private readonly unwritten = new Map<string, T>();
  private sending = 0;

  /** Adds deliveries of unclaimed subjects, in order within each subject. */
  add(deliveries: readonly T[]): void {
    for (const delivery of deliveries) {
      const queue = this.queues.get(delivery.subject);
      if (queue === undefined) this.queues.set(delivery.subject, { waiting: [delivery], isSending: false });
      else queue.waiting.push(delivery);
    }
  }

  get sendingCount(): number {
    return this.sending;
  }

  /** How many claimed subjects have nothing in flight. */
  get readyCount(): number {
    return this.queues.size - this.sending;
  }

  /** Returns the first delivery of the next subject with nothing in flight, round robin. */
  takeNext(): T | undefined {
    for (const queue of this.queues.values()) {
      if (queue.isSending) continue;
      queue.isSending = true;
      this.sending += 1;
      return queue.waiting[0];
    }
    return undefined;
  }

  /**
   * Ends the flight of a delivery. If `isDone`, the next of its subject may be sent. Otherwise the subject is released, and its
   * remaining deliveries stay in the database.
   */
  settle(delivery: T, isDone: boolean): void {
    const { subject } = delivery;
    const queue = this.queues.get(subject);
    if (queue === undefined) return;
    queue.waiting.shift();
    queue.isSending = false;
    this.sending -= 1;
    this.queues.delete(subject);
    // Move the subject to the end, so that one with many events does not delay the others.
    if (isDone && queue.waiting.length > 0) this.queues.set(subject, queue);
    else this.unwritten.set(subject, delivery);
  }

  /** Forgets a delivery whose result has been written. */
  forget(delivery: T): void {
    if (this.unwritten.get(delivery.subject) === delivery) this.unwritten.delete(delivery.subject);
  }

  /** Releases everything that is not in flight. */
  putDown(): void {
    for (const [subject, queue] of this.queues) {
      if (queue.isSending) queue.waiting.splice(1);
      else this.queues.delete(subject);
    }
  }

  /** Returns each claimed subject with its last claimed position. */
  reach(): { readonly subjects: string[]; readonly positions: string[] } {
    const last = [
      ...[...this.queues.values()].flatMap(({ waiting }) => waiting.at(-1) ?? []),
      ...this.unwritten.values(),
    ];
    return { subjects: last.map(({ subject }) => subject), positions: last.map(({ position }) => position) };
  }
}
