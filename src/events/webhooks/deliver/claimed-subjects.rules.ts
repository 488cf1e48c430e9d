interface Ordered {
  readonly subject: string;
  /** Within the subject, by which those given are sorted. */
  readonly position: string;
}

interface Queue<T> {
  readonly waiting: T[];
  isSending: boolean;
}

/**
 * The next deliveries of several subjects: one of each is sent at a time, and those of a subject in order. A subject stays in hand until
 * what became of its deliveries has been written, since until then they would be found again.
 */
export class SubjectsInHand<T extends Ordered> {
  private readonly queues = new Map<string, Queue<T>>();
  /** Subjects put down of which something is still to be written, with the last of them. */
  private readonly unwritten = new Map<string, T>();
  private sending = 0;

  /** Deliveries of subjects that are not in hand, those of one subject in order. */
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

  /** How many subjects could be sent something of at once. */
  get readyCount(): number {
    return this.queues.size - this.sending;
  }

  /** The first of the subject that has been in hand longest among those of which nothing is being sent. */
  takeNext(): T | undefined {
    for (const queue of this.queues.values()) {
      if (queue.isSending) continue;
      queue.isSending = true;
      this.sending += 1;
      return queue.waiting[0];
    }
    return undefined;
  }

  /** `isDone`: the next of its subject may go. Otherwise the subject is put down, and the rest of it waits in the database. */
  settle(delivery: T, isDone: boolean): void {
    const { subject } = delivery;
    const queue = this.queues.get(subject);
    if (queue === undefined) return;
    queue.waiting.shift();
    queue.isSending = false;
    this.sending -= 1;
    this.queues.delete(subject);
    // Behind the others, so that a subject with many events keeps nobody waiting.
    if (isDone && queue.waiting.length > 0) this.queues.set(subject, queue);
    else this.unwritten.set(subject, delivery);
  }

  /** What became of it has been written. */
  forget(delivery: T): void {
    if (this.unwritten.get(delivery.subject) === delivery) this.unwritten.delete(delivery.subject);
  }

  /** Puts down all that is not being sent. */
  putDown(): void {
    for (const [subject, queue] of this.queues) {
      if (queue.isSending) queue.waiting.splice(1);
      else this.queues.delete(subject);
    }
  }

  /** Each subject with the last position of it that is in hand. */
  reach(): { readonly subjects: string[]; readonly positions: string[] } {
    const last = [
      ...[...this.queues.values()].flatMap(({ waiting }) => waiting.at(-1) ?? []),
      ...this.unwritten.values(),
    ];
    return { subjects: last.map(({ subject }) => subject), positions: last.map(({ position }) => position) };
  }
}
