/** Returns an error that is printed without its stack: the message contains all that the user needs. */
export const forPeople = (message) => Object.assign(new Error(message), { isForPeople: true });
